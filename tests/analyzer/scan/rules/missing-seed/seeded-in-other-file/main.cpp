#include "model.h"

int main() {
  auto model = make_model();
  model->forward(torch::randn({8, 4})).sum().backward();
}
