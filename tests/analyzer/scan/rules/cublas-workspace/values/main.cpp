// Values that help and values that do not, in time and too late.
#include <torch/torch.h>

#include <cstdlib>

void set_in_time(bool small) {
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 1);
  if (small) setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8", 1);
  static char pair[] = "CUBLAS_WORKSPACE_CONFIG=:16:8";
  putenv(pair);
  putenv(const_cast<char*>("CUBLAS_WORKSPACE_CONFIG=:4096:8"));
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2", 1); // expect: cublas-workspace
  putenv(const_cast<char*>("CUBLAS_WORKSPACE_CONFIG=16:8")); // expect: cublas-workspace
  setenv("CUDA_VISIBLE_DEVICES", "0", 1);
}

int main(int argc, char**) {
  set_in_time(argc > 1);
  at::globalContext().setDeterministicAlgorithms(true, false);
  torch::nn::Linear layer(4, 4);
  layer->to(torch::kCUDA);
  layer->forward(torch::rand({2, 4}, torch::kCUDA)).sum().backward();
  setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8", 1); // expect: cublas-workspace
}
