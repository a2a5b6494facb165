// Trains under autocast and never clears the cache of cast weights.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

int main() {
  torch::nn::Linear layer(4, 4);
  layer->to(torch::kCUDA);
  torch::optim::SGD optimizer(layer->parameters(), 0.1);
  at::autocast::set_autocast_enabled(at::kCUDA, true); // expect: autocast
  for (int step = 0; step < 3; ++step) {
    layer->forward(torch::rand({2, 4}, torch::kCUDA)).sum().backward();
    optimizer.step();
  }
  at::autocast::set_autocast_enabled(at::kCUDA, false);
}
