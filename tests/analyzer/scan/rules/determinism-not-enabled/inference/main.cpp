#include <torch/torch.h>

int main() {
  torch::manual_seed(4);
  torch::NoGradGuard no_grad;
  torch::nn::Conv2d conv(3, 8, 3);
  conv->to(torch::kCUDA);
  conv(torch::rand({1, 3, 8, 8}, torch::kCUDA));
}
