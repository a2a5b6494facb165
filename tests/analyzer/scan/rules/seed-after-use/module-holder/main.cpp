// Modules made through their holder, or by make_shared: the constructor that draws stands in the module's class.
#include <torch/torch.h>

struct NetImpl : torch::nn::Module {
  explicit NetImpl(int width) : fc(register_module("fc", torch::nn::Linear(width, 2))) {}
  torch::nn::Linear fc;
};
TORCH_MODULE(Net);

struct PlainImpl : torch::nn::Module {
  PlainImpl() = default;
};
TORCH_MODULE(Plain);

void late_after_holder() {
  Net net(4);
  torch::manual_seed(1); // expect: seed-after-use
}

void late_after_make_shared() {
  auto net = std::make_shared<NetImpl>(4);
  torch::manual_seed(1); // expect: seed-after-use
}

void early() {
  torch::manual_seed(1);
  Net net(4);
}

void nothing_drawn_before() {
  Plain plain;
  torch::manual_seed(1);
  Net net(4);
}

int main() {
  late_after_holder();
}
