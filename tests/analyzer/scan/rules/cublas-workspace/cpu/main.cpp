// Right: the program never touches a GPU.
#include <torch/torch.h>

int main() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  torch::nn::Linear layer(4, 4);
  layer->forward(torch::rand({2, 4})).sum().backward();
}
