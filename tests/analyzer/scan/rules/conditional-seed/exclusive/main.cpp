// What draws is under the condition of the seed.
#include <torch/torch.h>

int main(int argc, char**) {
  const bool train = argc > 1;
  if (train) torch::manual_seed(1);
  torch::Tensor input = torch::ones({4, 784});
  if (train) input += torch::randn({4, 784});
  return input.size(0) == 4 ? 0 : 1;
}
