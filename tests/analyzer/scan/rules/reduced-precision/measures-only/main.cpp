// Right: a program that compares speeds and never trains.
#include <torch/torch.h>

int main() {
  auto a = torch::rand({64, 64}, torch::kCUDA);
  at::globalContext().setAllowTF32CuBLAS(false);
  a.matmul(a);
  at::globalContext().setAllowTF32CuBLAS(true);
  a.matmul(a);
}
