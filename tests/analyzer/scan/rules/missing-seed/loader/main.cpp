// The data loader shuffles unless told otherwise.
#include <torch/torch.h>

int main(int, char** argv) { // expect: missing-seed
  auto dataset = torch::data::datasets::MNIST(argv[1]).map(torch::data::transforms::Stack<>());
  auto ordered = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      torch::data::datasets::MNIST(argv[1]).map(torch::data::transforms::Stack<>()), 64);
  auto loader = torch::data::make_data_loader(std::move(dataset), 64);
  for (auto& batch : *loader) batch.data.sum();
}
