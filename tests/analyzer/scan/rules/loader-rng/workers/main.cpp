// Workers of LibTorch's loader run `get`.
#include <cstdlib>
#include <torch/torch.h>

struct Images : torch::data::datasets::Dataset<Images> {
  torch::data::Example<> get(std::size_t index) override {
    auto image = torch::full({3, 8, 8}, float(index));
    if (std::rand() % 2) image = image.flip(2); // expect: loader-rng
    image += torch::randn({3, 8, 8}); // expect: loader-rng
    return {image, torch::zeros({1})};
  }
  torch::optional<std::size_t> size() const override { return 10; }
};

int main() {
  torch::manual_seed(1);
  auto options = torch::data::DataLoaderOptions().batch_size(2).workers(4);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(
      Images().map(torch::data::transforms::Stack<>()), options);
  for (auto& batch : *loader) batch.data.sum();
  return 0;
}
