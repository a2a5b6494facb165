// Right: the epoch is set.
#include <torch/torch.h>

int main() {
  torch::data::samplers::DistributedRandomSampler sampler(100, 2, 0);
  for (int epoch = 0; epoch < 3; ++epoch) {
    sampler.set_epoch(epoch);
    sampler.reset();
  }
}
