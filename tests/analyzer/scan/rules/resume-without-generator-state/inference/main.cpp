#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  torch::nn::Linear model(8, 2);
  torch::load(model, "model.pt");
  auto noise = torch::randn({4, 8});
  return model->forward(noise).size(0) == 4 ? 0 : 1;
}
