#include <torch/torch.h>

constexpr bool kSurvey = true;

void warns() {
  at::globalContext().setDeterministicAlgorithms(true, true); // expect: warn-only
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/kSurvey); // expect: warn-only
}

void through_a_variable() {
  bool warn = true;
  auto& context = at::globalContext();
  context.setDeterministicAlgorithms(true, warn); // expect: warn-only
}

void strict() {
  at::globalContext().setDeterministicAlgorithms(true, false);
}

void off() {
  at::globalContext().setDeterministicAlgorithms(false, true);
}

void chosen_elsewhere(bool warn) {
  at::globalContext().setDeterministicAlgorithms(true, warn);
}

struct Context {
  void setDeterministicAlgorithms(bool, bool) {}
};

void own_class(Context& context) {
  context.setDeterministicAlgorithms(true, true);
}
