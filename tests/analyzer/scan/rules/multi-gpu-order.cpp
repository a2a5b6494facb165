// Several GPUs: which of them, and in which order the data come.
#include <torch/nn/parallel/data_parallel.h>
#include <torch/torch.h>

torch::Tensor forward(std::shared_ptr<torch::nn::LinearImpl> net, torch::Tensor x) {
  return torch::nn::parallel::data_parallel(net, x); // expect: multi-gpu-order
}

void visit(int64_t ranks, int64_t rank) {
  torch::data::samplers::DistributedRandomSampler sampler(100, ranks, rank); // expect: multi-gpu-order
  for (int epoch = 0; epoch < 3; ++epoch) sampler.reset();
}

// Right.
void in_order(int64_t ranks, int64_t rank) {
  torch::data::samplers::DistributedSequentialSampler sampler(100, ranks, rank);
  torch::data::samplers::RandomSampler shuffled(100);
}

namespace mine {
torch::Tensor data_parallel(torch::nn::Linear& net, torch::Tensor x) { return net(x); }
} // namespace mine

torch::Tensor own_function(torch::nn::Linear& net, torch::Tensor x) {
  return mine::data_parallel(net, x);
}
