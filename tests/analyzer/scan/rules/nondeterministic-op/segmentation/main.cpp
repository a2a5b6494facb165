// A network of convolutions alone predicts images: its targets have two dimensions.
#include <torch/torch.h>

int main() {
  torch::manual_seed(1);
  torch::nn::Conv2d conv(3, 21, 3);
  conv->to(torch::kCUDA);
  auto scores = conv(torch::rand({1, 3, 32, 32}, torch::kCUDA));
  auto target = torch::zeros({1, 30, 30}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  auto loss = torch::nll_loss(torch::log_softmax(scores, 1), target); // expect: nondeterministic-op
  loss.backward();
}
