// Right: sizes that do not change, a dropped last batch, a size that follows another tensor's.
#include <torch/torch.h>

namespace F = torch::nn::functional;

int main() {
  at::globalContext().setBenchmarkCuDNN(true);
  torch::nn::Conv2d conv(1, 8, 3);
  conv->to(torch::kCUDA);
  auto set = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(set), torch::data::DataLoaderOptions().batch_size(64).drop_last(true));
  const int64_t side = 32;
  for (auto& batch : *loader) {
    auto image = F::interpolate(batch.data.to(torch::kCUDA), F::InterpolateFuncOptions().size(std::vector<int64_t>{side, side}));
    auto out = conv->forward(image);
    auto up = F::interpolate(out, F::InterpolateFuncOptions().size(std::vector<int64_t>{image.size(2), image.size(3)}));
    up.sum().backward();
  }
}
