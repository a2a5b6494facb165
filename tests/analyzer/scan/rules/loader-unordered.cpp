// Loaders that give up the order of their batches.
#include <torch/torch.h>

auto as_they_come(std::vector<std::string> paths) {
  return torch::data::DataLoaderOptions().batch_size(4).workers(4).enforce_ordering(false); // expect: loader-unordered
}

void on_a_variable(torch::data::DataLoaderOptions& options) {
  options.workers(2);
  const bool ordered = false;
  options.enforce_ordering(ordered); // expect: loader-unordered
}

void preloaders() {
  torch::data::datasets::ChunkDatasetOptions(4, 32); // expect: loader-unordered
}

// Right.
auto in_order() {
  return torch::data::DataLoaderOptions().batch_size(4).workers(4);
}

auto said_so() {
  return torch::data::DataLoaderOptions().workers(4).enforce_ordering(true);
}

void chosen_by_the_user(torch::data::DataLoaderOptions& options, bool ordered) {
  options.enforce_ordering(ordered);
}

void one_preloader() {
  torch::data::datasets::ChunkDatasetOptions(1, 32);
}
