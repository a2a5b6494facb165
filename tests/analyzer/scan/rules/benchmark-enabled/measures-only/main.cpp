// Right: a program that times convolutions and never trains.
#include <torch/torch.h>

int main() {
  torch::nn::Conv2d conv(3, 8, 3);
  conv->to(torch::kCUDA);
  at::globalContext().setBenchmarkCuDNN(true);
  auto out = conv->forward(torch::rand({1, 3, 8, 8}, torch::kCUDA));
  return out.sum().item<float>() > 0;
}
