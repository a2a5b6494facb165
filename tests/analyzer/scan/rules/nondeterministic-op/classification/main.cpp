#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  torch::nn::Conv2d conv(3, 8, 3);
  torch::nn::Linear head(8 * 30 * 30, 10);
  conv->to(torch::kCUDA), head->to(torch::kCUDA);
  auto scores = head(conv(torch::rand({1, 3, 32, 32}, torch::kCUDA)).flatten(1));
  auto target = torch::zeros({1}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  torch::nll_loss(torch::log_softmax(scores, 1), target).backward();
}
