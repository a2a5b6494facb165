// A tensor that begins without a gradient needs one once something that does is written into it.
#include <torch/torch.h>

torch::Tensor share(torch::nn::Linear& layer, torch::Tensor x, torch::Tensor index) {
  const auto weight = layer->forward(x);
  auto total = torch::zeros({8, 2}, x.options());
  total.scatter_add_(0, index, weight);       // expect: nondeterministic-op
  const auto taken = total.gather(0, index);  // expect: nondeterministic-op
  auto sum = torch::zeros({8, 2}, x.options());
  sum += weight;
  return taken + sum.gather(0, index); // expect: nondeterministic-op
}

torch::Tensor without(torch::Tensor x, torch::Tensor index) {
  auto total = torch::zeros({8, 2}, x.options());
  total.fill_(1);
  total += torch::ones({8, 2}, x.options());
  return total.gather(0, index);
}

torch::Tensor weighted_counts(torch::Tensor weights) {
  auto bins = torch::randint(0, 8, {8}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  auto counts = torch::bincount(bins);
  return torch::bincount(bins, weights, 8) + counts; // expect: nondeterministic-op
}

int main() {
  torch::manual_seed(1);
  torch::nn::Linear layer(2, 2);
  layer->to(torch::kCUDA);
  auto x = torch::rand({8, 2}, torch::kCUDA);
  auto index = torch::randint(0, 8, {8, 2}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  weighted_counts(torch::rand({8}, torch::kCUDA));
  (share(layer, x, index).sum() + without(x, index).sum()).backward();
}
