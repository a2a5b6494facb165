// Operators whose result or gradient varies on CUDA, and calls that only look like them.
#include <torch/torch.h>

namespace F = torch::nn::functional;

struct Decoder : torch::nn::Module {
  Decoder() {
    layers->push_back(torch::nn::ReflectionPad2d(1)); // expect: nondeterministic-op
    layers->push_back(torch::nn::ReplicationPad2d(torch::nn::ReplicationPad2dOptions(2))); // expect: nondeterministic-op
    layers->push_back(torch::nn::AdaptiveAvgPool2d(6)); // expect: nondeterministic-op
    layers->push_back(torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({7, 7}))); // expect: nondeterministic-op
    layers->push_back(torch::nn::Upsample(torch::nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kBilinear))); // expect: nondeterministic-op
    // Right.
    layers->push_back(torch::nn::ZeroPad2d(1));
    layers->push_back(torch::nn::AdaptiveAvgPool2d(1));
    layers->push_back(torch::nn::AdaptiveAvgPool2d(torch::nn::AdaptiveAvgPool2dOptions({1, 1})));
    layers->push_back(torch::nn::MaxPool2d(2));
    layers->push_back(torch::nn::Upsample(torch::nn::UpsampleOptions().scale_factor(std::vector<double>{2, 2}).mode(torch::kNearest)));
    table = register_parameter("table", torch::randn({64, 8}));
    register_module("layers", layers);
  }

  torch::Tensor forward(torch::Tensor x) {
    auto options = F::InterpolateFuncOptions().size(std::vector<int64_t>{32, 32}).mode(torch::kBilinear).align_corners(false);
    x = F::interpolate(layers->forward(x), options); // expect: nondeterministic-op
    x = F::interpolate(x, F::InterpolateFuncOptions().size(std::vector<int64_t>{64, 64}).mode(torch::kNearest));
    x = F::pad(x, F::PadFuncOptions({1, 1, 1, 1}).mode(torch::kReflect)); // expect: nondeterministic-op
    x = F::pad(x, F::PadFuncOptions({1, 1, 1, 1}));
    return x;
  }

  torch::Tensor look_up(torch::Tensor index) {
    return table.index_select(0, index); // expect: nondeterministic-op
  }

  torch::Tensor shuffled() {
    auto order = torch::randperm(64, torch::TensorOptions().device(torch::kCUDA));
    return table.index_select(0, order);
  }

  torch::nn::Sequential layers;
  torch::Tensor table;
};

void forward_operators(torch::Tensor sums, torch::Tensor index, torch::Tensor source) {
  sums.index_add_(0, index, source); // expect: nondeterministic-op
  sums.scatter_add_(0, index, source); // expect: nondeterministic-op
  auto running = torch::cumsum(source, 0); // expect: nondeterministic-op
  auto weighted = torch::bincount(index, source); // expect: nondeterministic-op
  auto middle = std::get<1>(source.median(0)); // expect: nondeterministic-op
  sums.scatter_reduce_(0, index, source, "mean"); // expect: nondeterministic-op
}

void repeated_writes(torch::Tensor values) {
  auto options = torch::TensorOptions().device(torch::kCUDA);
  auto target = torch::zeros({16}, options);
  auto index = torch::randint(0, 16, {1000}, options.dtype(torch::kLong));
  target.index_put_({index}, values); // expect: nondeterministic-op
  target.index_put_({index}, 1.0);
  target.index_put_({target > 0}, values);
}

void forward_lookalikes(torch::Tensor sums, torch::Tensor index, torch::Tensor source, torch::Tensor mask) {
  auto counted = torch::bincount(index);
  auto positions = torch::cumsum(mask.to(torch::kLong), 0);
  auto ranks = (source > 0).cumsum(0);
  auto integers = torch::zeros({8}, torch::TensorOptions().dtype(torch::kInt64).device(torch::kCUDA));
  integers.index_add_(0, index, torch::ones({8}, torch::kInt64));
  auto counts = torch::ones_like(source, torch::kInt32);
  counts.index_add_(0, index, torch::ones_like(index, torch::kInt32));
  counts = counts.index_select(0, index).contiguous();
  counts.index_add_(0, index, torch::ones_like(index, torch::kInt32));
  counts = counts.to(torch::kFloat32);
  counts.index_add_(0, index, source); // expect: nondeterministic-op
  auto on_host = torch::cumsum(source.cpu(), 0);
  auto middle = source.median();
  auto order = torch::arange(8, torch::TensorOptions().device(torch::kCUDA));
  sums.index_add_(0, order, source);
  sums.scatter_reduce_(0, index, source, "amax");
  auto prefix = source.index({torch::indexing::Slice(0, 4)});
}

torch::Tensor evaluate(Decoder& model, torch::Tensor image) {
  torch::NoGradGuard no_grad;
  auto out = model.forward(image);
  return F::interpolate(out, F::InterpolateFuncOptions().size(std::vector<int64_t>{8, 8}).mode(torch::kBilinear).align_corners(false));
}

torch::Tensor resized_input() {
  auto image = torch::rand({1, 3, 32, 32}, torch::TensorOptions().device(torch::kCUDA));
  return F::interpolate(image, F::InterpolateFuncOptions().size(std::vector<int64_t>{8, 8}).mode(torch::kBilinear).align_corners(false));
}

torch::Tensor detached(Decoder& model, torch::Tensor x) {
  auto out = model.forward(x).detach();
  return out.gather(1, torch::randint(0, 4, {4, 2}, torch::TensorOptions().device(torch::kCUDA)));
}

namespace mine {
torch::Tensor cumsum(torch::Tensor x, int) { return x; }
struct Table {
  void index_add_(int, int, int) {}
};
} // namespace mine

void own_names(mine::Table& table, torch::Tensor x) {
  table.index_add_(0, 1, 2);
  mine::cumsum(x, 0);
}

int main() {
  torch::manual_seed(1);
  Decoder model;
  model.to(torch::kCUDA);
  auto out = model.forward(torch::rand({1, 3, 16, 16}, torch::kCUDA)).sum();
  out.backward();
  evaluate(model, torch::rand({1, 3, 16, 16}, torch::kCUDA));
  detached(model, torch::rand({1, 3, 16, 16}, torch::kCUDA));
}
