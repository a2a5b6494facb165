// gather takes one value a row, so that its backward pass adds nothing up; and gathers that do add.
#include <torch/torch.h>

torch::Tensor log_probability(torch::Tensor logits, torch::Tensor action) {
  action = action.to(torch::kLong).unsqueeze(-1);
  auto both = torch::broadcast_tensors({action, logits});
  action = both[0];
  action = action.index({"...", torch::indexing::Slice(torch::indexing::None, 1)});
  return logits.gather(-1, action).squeeze(-1);
}

torch::Tensor chosen(torch::Tensor values, torch::Tensor actions) {
  return values.gather(1, actions);
}

int main() {
  torch::nn::Linear net(4, 8);
  net->to(torch::kCUDA);
  auto q = net->forward(torch::rand({16, 4}, torch::kCUDA));
  auto actions = torch::randint(0, 8, {16}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  auto several = torch::randint(0, 8, {16, 3}, torch::TensorOptions().dtype(torch::kLong).device(torch::kCUDA));
  auto loss = q.gather(1, several).sum(); // expect: nondeterministic-op
  loss = loss + q.gather(0, actions.unsqueeze(1)).sum(); // expect: nondeterministic-op
  // Right.
  loss = loss + q.gather(1, actions.unsqueeze(1)).sum();
  loss = loss + q.gather(1, actions.view({-1, 1})).sum();
  loss = loss + q.gather(1, q.argmax(1, true)).sum();
  loss = loss + q.gather(1, q.softmax(1).multinomial(1)).sum();
  loss = loss + chosen(q, actions.unsqueeze(1)).sum();
  loss = loss + log_probability(q, actions).sum();
  loss.backward();
}
