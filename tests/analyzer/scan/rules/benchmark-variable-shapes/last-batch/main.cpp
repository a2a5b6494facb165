// The loader keeps the last batch of an epoch, which is smaller.
#include <torch/torch.h>

int main() {
  at::globalContext().setBenchmarkCuDNN(true); // expect: benchmark-variable-shapes
  torch::nn::Conv2d conv(1, 8, 3);
  conv->to(torch::kCUDA);
  auto set = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(set), torch::data::DataLoaderOptions().batch_size(64));
  for (auto& batch : *loader)
    conv->forward(batch.data.to(torch::kCUDA)).sum().backward();
}
