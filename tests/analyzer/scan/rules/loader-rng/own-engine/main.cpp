// An engine for each example, whichever worker comes.
#include <random>
#include <torch/torch.h>

struct Images : torch::data::datasets::Dataset<Images> {
  torch::data::Example<> get(std::size_t index) override {
    std::mt19937 engine(static_cast<unsigned>(7 + index));
    auto image = torch::full({3, 8, 8}, float(index));
    if (engine() % 2) image = image.flip(2);
    return {image, torch::zeros({1})};
  }
  torch::optional<std::size_t> size() const override { return 10; }
};

int main() {
  torch::manual_seed(1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Images().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(2).workers(4));
  for (auto& batch : *loader) batch.data.sum();
  return 0;
}
