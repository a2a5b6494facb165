// Globals draw before main can seed.
#include <torch/torch.h>

torch::Tensor noise = torch::randn({4}); // expect: seed-after-use
torch::Tensor zeros = torch::zeros({4});

int main() {
  torch::manual_seed(1);
  return torch::randn({4}).size(0) == noise.size(0) + zeros.size(0) ? 0 : 1;
}
