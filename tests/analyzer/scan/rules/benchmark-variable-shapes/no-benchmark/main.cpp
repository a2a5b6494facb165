// Right: sizes change, and benchmark mode is off.
#include <torch/torch.h>

int main(int argc, char**) {
  at::globalContext().setBenchmarkCuDNN(argc > 1);
  torch::nn::Conv2d conv(1, 8, 3);
  auto set = torch::data::datasets::MNIST("data").map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(std::move(set), torch::data::DataLoaderOptions().batch_size(64));
  for (auto& batch : *loader)
    conv->forward(batch.data).sum().backward();
}
