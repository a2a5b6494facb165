// Training that goes on from a checkpoint.
#include <torch/torch.h>

int main(int argc, char**) {
  torch::manual_seed(1);
  torch::nn::Linear model(8, 2);
  torch::optim::Adam optimizer(model->parameters());
  if (argc > 1) {
    torch::load(model, "model.pt");
    torch::load(optimizer, "optimizer.pt"); // expect: resume-without-generator-state
  }
  for (int epoch = 0; epoch < 10; ++epoch) {
    auto noise = torch::randn({4, 8});
    model->forward(noise).sum().backward();
    optimizer.step();
  }
  return 0;
}
