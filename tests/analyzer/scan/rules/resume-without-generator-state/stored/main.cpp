#include <torch/torch.h>

int main(int argc, char**) {
  torch::manual_seed(1);
  torch::nn::Linear model(8, 2);
  torch::optim::Adam optimizer(model->parameters());
  at::Generator generator = at::globalContext().defaultGenerator(torch::Device(torch::kCPU));
  if (argc > 1) {
    torch::load(optimizer, "optimizer.pt");
    torch::Tensor state;
    torch::load(state, "generator.pt");
    generator.set_state(state);
  }
  auto noise = torch::randn({4, 8});
  model->forward(noise).sum().backward();
  optimizer.step();
  return 0;
}
