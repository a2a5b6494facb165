// The layer's first numbers are overwritten; the order of the examples is not.
#include <torch/torch.h>

int main(int, char** argv) { // expect: missing-seed
  torch::nn::Linear layer(4, 4);
  torch::load(layer, argv[1]);
  auto dataset = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(dataset), 64);
  for (auto& batch : *loader) layer->forward(batch.data).sum().backward();
}
