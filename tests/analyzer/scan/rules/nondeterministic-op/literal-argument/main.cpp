// A literal `deterministic` argument overrules the process-wide switches, even in strict mode.
#include <torch/torch.h>

int main(int argc, char**) {
  at::globalContext().setDeterministicAlgorithms(true, false);
  auto options = torch::TensorOptions().device(torch::kCUDA).requires_grad(true);
  auto x = torch::rand({1, 3, 8, 8}, options), w = torch::rand({4, 3, 3, 3}, options);
  auto a = at::cudnn_convolution(x, w, {0, 0}, {1, 1}, {1, 1}, 1, false, false, true); // expect: nondeterministic-op
  auto b = at::_convolution(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, false, false, true, true); // expect: nondeterministic-op
  // Right.
  auto c = at::cudnn_convolution(x, w, {0, 0}, {1, 1}, {1, 1}, 1, false, true, true);
  auto d = at::cudnn_convolution(x, w, {0, 0}, {1, 1}, {1, 1}, 1, false, argc > 1, true);
  auto e = at::_convolution(x, w, {}, {1, 1}, {0, 0}, {1, 1}, false, {0, 0}, 1, false, true, true, true);
  auto f = torch::conv2d(x, w);
  (a.sum() + b.sum() + c.sum() + d.sum() + e.sum() + f.sum()).backward();
}
