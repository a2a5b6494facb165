// Strict mode without the workspace variable (there is no compilation database here, so the version is a guess).
#include <torch/torch.h>

#include <cstdlib>

int main() {
  at::globalContext().setDeterministicAlgorithms(true, false); // expect: cublas-workspace
  torch::nn::Linear layer(4, 4);
  layer->to(torch::kCUDA);
  layer->forward(torch::rand({2, 4}, torch::kCUDA)).sum().backward();
  at::globalContext().setDeterministicAlgorithms(false, false);
  at::globalContext().setDeterministicCuDNN(true);
}
