// Right: one way only, and full precision.
#include <torch/torch.h>

int main() {
  at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL, at::Float32Precision::IEEE);
  at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::CONV, at::Float32Precision::IEEE);
  torch::nn::Linear layer(4, 4);
  layer->forward(torch::rand({2, 4})).sum().backward();
}
