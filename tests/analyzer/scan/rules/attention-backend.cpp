// Strict mode and the back ends of attention.
#include <torch/torch.h>

torch::Tensor attention(torch::Tensor q) {
  return torch::scaled_dot_product_attention(q, q, q);
}

void none_left() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setSDPUseMath(false); // expect: attention-backend
  attention(torch::rand({1, 2, 8, 16}));
}

// Right.
void math_left() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  attention(torch::rand({1, 2, 8, 16}));
}

void only_warns() {
  at::globalContext().setDeterministicAlgorithms(true, true);
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setSDPUseMath(false);
  attention(torch::rand({1, 2, 8, 16}));
}

void not_strict() {
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setSDPUseMath(false);
  attention(torch::rand({1, 2, 8, 16}));
}

void as_asked(bool math) {
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setSDPUseMath(math);
  attention(torch::rand({1, 2, 8, 16}));
}

void switched_on_again() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setSDPUseFlash(false);
  at::globalContext().setSDPUseMemEfficient(false);
  at::globalContext().setSDPUseMath(false);
  at::globalContext().setSDPUseMath(true);
  attention(torch::rand({1, 2, 8, 16}));
}
