// The way to set precision that LibTorch 2.9 brought, beside the old one.
#include <torch/torch.h>

int main() {
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::MATMUL, at::Float32Precision::IEEE); // expect: reduced-precision
  at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::CONV, at::Float32Precision::TF32); // expect: reduced-precision
  at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, at::Float32Op::RNN, at::Float32Precision::IEEE);
  torch::nn::Linear layer(4, 4);
  layer->forward(torch::rand({2, 4})).sum().backward();
}
