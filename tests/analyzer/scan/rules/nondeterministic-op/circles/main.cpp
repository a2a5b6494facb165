// Tensors that all depend on each other: an answer comes soon, and it is the cautious one.
#include <torch/torch.h>

void mix(torch::Tensor index, int rounds) {
  torch::Tensor x0 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x1 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x2 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x3 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x4 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x5 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x6 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x7 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x8 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x9 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x10 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x11 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x12 = torch::rand({8}, torch::kCUDA);
  torch::Tensor x13 = torch::rand({8}, torch::kCUDA);
  for (int i = 0; i < rounds; ++i) {
    if (i % 2) x0 = x0 + x1.mul(x1) + x2.mul(x2) + x3.mul(x3) + x5.mul(x5) + x7.mul(x7);
    if (i % 3) x1 = x1 + x2.mul(x2) + x3.mul(x3) + x4.mul(x4) + x6.mul(x6) + x8.mul(x8);
    if (i % 4) x2 = x2 + x3.mul(x3) + x4.mul(x4) + x5.mul(x5) + x7.mul(x7) + x9.mul(x9);
    if (i % 5) x3 = x3 + x4.mul(x4) + x5.mul(x5) + x6.mul(x6) + x8.mul(x8) + x10.mul(x10);
    if (i % 6) x4 = x4 + x5.mul(x5) + x6.mul(x6) + x7.mul(x7) + x9.mul(x9) + x11.mul(x11);
    if (i % 7) x5 = x5 + x6.mul(x6) + x7.mul(x7) + x8.mul(x8) + x10.mul(x10) + x12.mul(x12);
    if (i % 8) x6 = x6 + x7.mul(x7) + x8.mul(x8) + x9.mul(x9) + x11.mul(x11) + x13.mul(x13);
    if (i % 9) x7 = x7 + x8.mul(x8) + x9.mul(x9) + x10.mul(x10) + x12.mul(x12) + x0.mul(x0);
    if (i % 10) x8 = x8 + x9.mul(x9) + x10.mul(x10) + x11.mul(x11) + x13.mul(x13) + x1.mul(x1);
    if (i % 11) x9 = x9 + x10.mul(x10) + x11.mul(x11) + x12.mul(x12) + x0.mul(x0) + x2.mul(x2);
    if (i % 12) x10 = x10 + x11.mul(x11) + x12.mul(x12) + x13.mul(x13) + x1.mul(x1) + x3.mul(x3);
    if (i % 13) x11 = x11 + x12.mul(x12) + x13.mul(x13) + x0.mul(x0) + x2.mul(x2) + x4.mul(x4);
    if (i % 14) x12 = x12 + x13.mul(x13) + x0.mul(x0) + x1.mul(x1) + x3.mul(x3) + x5.mul(x5);
    if (i % 15) x13 = x13 + x0.mul(x0) + x1.mul(x1) + x2.mul(x2) + x4.mul(x4) + x6.mul(x6);
  }
  x0.index_add_(0, index, x1); // expect: nondeterministic-op
}

int main() { mix(torch::randint(4, {8}, torch::kCUDA), 3); }
