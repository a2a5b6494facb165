// Autocast that stays on, and autocast that is put back.
#include <ATen/autocast_mode.h>
#include <torch/torch.h>

torch::Tensor forgotten(torch::nn::Linear& layer, torch::Tensor x) {
  at::autocast::set_autocast_enabled(at::kCUDA, true); // expect: autocast
  return layer->forward(x).sum();
}

torch::Tensor forgotten_on_one_path(torch::nn::Linear& layer, torch::Tensor x) {
  at::autocast::set_autocast_enabled(at::kCUDA, true); // expect: autocast
  auto y = layer->forward(x);
  if (y.numel() == 0) return y;
  at::autocast::set_autocast_enabled(at::kCUDA, false);
  return y.sum();
}

torch::Tensor with_the_old_form(torch::nn::Linear& layer, torch::Tensor x) {
  at::autocast::set_cpu_enabled(true); // expect: autocast
  return layer->forward(x).sum();
}

// Right.
torch::Tensor put_back(torch::nn::Linear& layer, torch::Tensor x) {
  const bool was = at::autocast::is_autocast_enabled(at::kCUDA);
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  auto y = layer->forward(x);
  at::autocast::set_autocast_enabled(at::kCUDA, was);
  return y.sum();
}

torch::Tensor switched_off(torch::nn::Linear& layer, torch::Tensor x) {
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  auto y = layer->forward(x);
  at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(at::kCUDA, false);
  return y.sum();
}

struct Autocast {
  Autocast() { at::autocast::set_autocast_enabled(at::kCUDA, true); }
  ~Autocast() { at::autocast::set_autocast_enabled(at::kCUDA, false); }
};

torch::Tensor by_guard(torch::nn::Linear& layer, torch::Tensor x) {
  Autocast guard;
  return layer->forward(x).sum();
}

void begin() {
  at::autocast::set_autocast_enabled(at::kCUDA, true);
  at::autocast::set_autocast_dtype(at::kCUDA, at::kHalf);
}

torch::Tensor off(torch::nn::Linear& layer, torch::Tensor x) {
  at::autocast::set_autocast_enabled(at::kCUDA, false);
  return layer->forward(x);
}
