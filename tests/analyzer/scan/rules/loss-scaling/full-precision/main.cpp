// Right: no half precision, so the factor only weighs the loss.
#include <torch/torch.h>

int main() {
  torch::nn::Linear layer(4, 4);
  torch::optim::SGD optimizer(layer->parameters(), 0.1);
  const double scale = 0.5;
  (layer->forward(torch::rand({2, 4})).sum() * scale).backward();
  torch::nn::utils::clip_grad_norm_(layer->parameters(), 1.0);
  optimizer.step();
}
