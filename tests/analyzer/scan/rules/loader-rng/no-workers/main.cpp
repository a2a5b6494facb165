#include <cstdlib>
#include <torch/torch.h>

struct Images : torch::data::datasets::Dataset<Images> {
  torch::data::Example<> get(std::size_t index) override {
    auto image = torch::full({3, 8, 8}, float(index));
    if (std::rand() % 2) image = image.flip(2);
    return {image, torch::randn({1})};
  }
  torch::optional<std::size_t> size() const override { return 10; }
};

int main() {
  torch::manual_seed(1);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Images().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions().batch_size(2).workers(0));
  for (auto& batch : *loader) batch.data.sum();
  return 0;
}
