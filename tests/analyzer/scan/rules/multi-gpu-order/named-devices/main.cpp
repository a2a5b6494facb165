// Right: the devices are named.
#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

int main() {
  torch::nn::Linear net(4, 4);
  std::vector<torch::Device> devices = {torch::Device(torch::kCUDA, 0), torch::Device(torch::kCUDA, 1)};
  auto out = torch::nn::parallel::data_parallel(net, torch::rand({8, 4}), devices);
  out.sum().backward();
}
