#include <torch/torch.h>

#include <memory>

class Agent {
public:
  Agent(int inputs, int seed) {
    torch::manual_seed(seed);
    policy_ = torch::nn::Linear(inputs, 2);
  }
  torch::Tensor act(torch::Tensor x) { return policy_(x) + torch::randn({2}); }

private:
  torch::nn::Linear policy_{nullptr};
};

int main() {
  auto agent = std::make_unique<Agent>(4, 2);
  agent->act(torch::zeros({1, 4})).sum().backward();
}
