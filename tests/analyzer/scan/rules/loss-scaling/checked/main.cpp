// Right: overflow is looked for, and gradients are unscaled before they are clipped.
#include <torch/torch.h>

bool all_finite(const std::vector<torch::Tensor>& parameters) {
  for (const auto& p : parameters)
    if (!torch::isfinite(p.grad()).all().item<bool>()) return false;
  return true;
}

int main() {
  torch::nn::Linear layer(4, 4);
  layer->to(torch::kHalf);
  torch::optim::SGD optimizer(layer->parameters(), 0.1);
  double scale = 65536;
  for (int step = 0; step < 3; ++step) {
    (layer->forward(torch::rand({2, 4}, torch::kHalf)).sum() * scale).backward();
    if (!all_finite(layer->parameters())) continue;
    for (auto& p : layer->parameters()) p.mutable_grad().div_(scale);
    torch::nn::utils::clip_grad_norm_(layer->parameters(), 1.0);
    optimizer.step();
  }
}
