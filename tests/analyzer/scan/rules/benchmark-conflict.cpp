// cuDNN benchmark together with determinism: on one path only, in whichever order.
#include <torch/torch.h>

void conflict() {
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(true); // expect: benchmark-conflict
}

void conflict_the_other_way_round() {
  auto& context = at::globalContext();
  context.setBenchmarkCuDNN(true); // expect: benchmark-conflict
  context.setDeterministicAlgorithms(true, false);
  auto x = torch::zeros({2});
}

void deterministic_if(bool deterministic) {
  if (deterministic) {
    at::globalContext().setDeterministicAlgorithms(true, false);
  }
  at::globalContext().setBenchmarkCuDNN(true); // expect: benchmark-conflict
}

void make_deterministic() {
  at::globalContext().setDeterministicAlgorithms(true, false);
}

void conflict_through_a_helper() {
  make_deterministic();
  at::globalContext().setBenchmarkCuDNN(true); // expect: benchmark-conflict
}

class Agent {
public:
  explicit Agent(bool strict) : strict_(strict) {
    if (strict_) at::globalContext().setDeterministicCuDNN(true);
    at::globalContext().setBenchmarkCuDNN(true); // expect: benchmark-conflict
  }

private:
  bool strict_ = true;
};

// Right: opposite branches.
void either(bool random) {
  if (random) {
    at::globalContext().setDeterministicCuDNN(false);
    at::globalContext().setBenchmarkCuDNN(true);
  } else {
    at::globalContext().setDeterministicCuDNN(true);
    at::globalContext().setBenchmarkCuDNN(false);
  }
}

void two_branches(bool deterministic) {
  if (deterministic) at::globalContext().setDeterministicAlgorithms(true, false);
  auto x = torch::zeros({2});
  if (!deterministic) at::globalContext().setBenchmarkCuDNN(true);
  x.add_(1);
}

void negated(bool fast) {
  at::globalContext().setBenchmarkCuDNN(fast);
  at::globalContext().setDeterministicCuDNN(!fast);
}

void set_both(bool deterministic) {
  at::globalContext().setDeterministicCuDNN(deterministic);
  at::globalContext().setBenchmarkCuDNN(!deterministic);
}

void from_callers() {
  set_both(true);
  set_both(false);
}

void taken_back() {
  at::globalContext().setBenchmarkCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  at::globalContext().setDeterministicCuDNN(true);
}

void known_constant() {
  bool deterministic = false;
  if (deterministic) at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(true);
}

void mode_equals(int mode) {
  if (mode == 1) at::globalContext().setDeterministicCuDNN(true);
  if (mode != 1) at::globalContext().setBenchmarkCuDNN(true);
}

void benchmark_alone() {
  at::globalContext().setBenchmarkCuDNN(true);
}

struct Settings {
  void setBenchmarkCuDNN(bool) {}
};

void own_class(Settings& settings) {
  at::globalContext().setDeterministicCuDNN(true);
  settings.setBenchmarkCuDNN(true);
}
