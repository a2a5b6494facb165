// Layers that stored weights overwrite.
#include <torch/torch.h>

int main(int, char** argv) {
  torch::nn::Linear layer(4, 2);
  torch::load(layer, argv[1]);
  layer->eval();
  torch::NoGradGuard no_grad;
  layer(torch::zeros({1, 4}));
}
