#include "model.h"

static void seed_everything() { torch::manual_seed(3); }

torch::nn::Sequential make_model() {
  seed_everything();
  return torch::nn::Sequential(torch::nn::Linear(4, 2), torch::nn::Dropout(0.1));
}
