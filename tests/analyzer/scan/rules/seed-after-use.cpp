// Seeds that come after the first draw, in one function, across functions, and on one path only.
#include <torch/torch.h>

struct Net : torch::nn::Module {
  Net() : fc(register_module("fc", torch::nn::Linear(4, 2))) {}
  torch::nn::Linear fc;
};

void seed_everything(int seed) {
  torch::manual_seed(seed);
}

void late_after_layer() {
  torch::nn::Linear layer(4, 2);
  torch::manual_seed(1); // expect: seed-after-use
}

void late_after_constructor() {
  Net net;
  torch::manual_seed(1); // expect: seed-after-use
}

torch::Tensor noise() { return torch::randn({4}); }

void late_after_helper() {
  auto x = noise();
  at::manual_seed(3); // expect: seed-after-use
}

void late_on_one_path(bool warm_up) {
  if (warm_up) noise();
  torch::manual_seed(2); // expect: seed-after-use
}

void late_after_sampler() {
  torch::data::samplers::RandomSampler sampler(100);
  torch::manual_seed(2); // expect: seed-after-use
}

// Right: a sampler of a type that is not known yet draws nothing that we know of.
template <class Group> void seeded_after_a_sampler_of_its_own(Group group) {
  auto sampler = torch::data::samplers::DistributedRandomSampler(100, group->size(), group->rank(), false);
  auto dataset = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(dataset), sampler, 64 / group->size());
  torch::manual_seed(2);
}

// Right: seeded first, also through a helper or a constructor.
void early() {
  torch::manual_seed(1);
  Net net;
  auto x = noise();
  torch::manual_seed(2); // re-seeding is not late
}

void early_through_helper() {
  seed_everything(5);
  Net net;
}

struct Seeded {
  explicit Seeded(int seed) { torch::manual_seed(seed); }
};

void early_through_constructor() {
  Seeded first(3);
  torch::nn::Linear layer(4, 2);
}

void in_other_branch(bool random) {
  if (random) {
    auto x = torch::randn({4});
  } else {
    torch::manual_seed(1);
  }
}

void no_draw_before() {
  auto x = torch::zeros({4});
  torch::nn::Linear later{nullptr};
  torch::data::samplers::SequentialSampler sampler(100);
  torch::manual_seed(1);
}

int rand(int x) { return x; }

void own_function_of_the_same_name() {
  rand(3);
  torch::manual_seed(1);
}
