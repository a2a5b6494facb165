// Losses that are scaled by hand: with and without what belongs to it.
#include <torch/torch.h>

void train(torch::nn::Linear& layer, torch::optim::SGD& optimizer, torch::Tensor x, double loss_scale) {
  auto loss = layer->forward(x.to(torch::kHalf)).sum();
  (loss * loss_scale).backward(); // expect: loss-scaling
  torch::nn::utils::clip_grad_norm_(layer->parameters(), 1.0); // expect: loss-scaling
  for (auto& p : layer->parameters()) p.mutable_grad().div_(loss_scale);
  optimizer.step();
}

void train_named(torch::nn::Linear& layer, torch::optim::SGD& optimizer, torch::Tensor x, float scale) {
  auto scaled = layer->forward(x.to(torch::kHalf)).sum() * scale;
  scaled.backward(); // expect: loss-scaling
  for (auto& p : layer->parameters()) p.mutable_grad().div_(scale);
  torch::nn::utils::clip_grad_norm_(layer->parameters(), 1.0);
  optimizer.step();
}

// Right: not scaled, or weighted by something else.
void plain(torch::nn::Linear& layer, torch::optim::SGD& optimizer, torch::Tensor x, double weight, double scale_factor) {
  auto loss = layer->forward(x).sum();
  loss.backward();
  (layer->forward(x).sum() * weight).backward();
  (layer->forward(x).sum() * scale_factor).backward();
  torch::nn::utils::clip_grad_norm_(layer->parameters(), 1.0);
  optimizer.step();
}

struct Node {
  Node operator*(double) { return *this; }
  void backward() {}
};

void own_type(Node node, double scale) {
  (node * scale).backward();
}
