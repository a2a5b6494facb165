// Writing into a view whose elements share addresses.
#include <torch/torch.h>

void write(torch::Tensor index, torch::Tensor values) {
  auto row = torch::zeros({1, 8});
  auto wide = row.expand({4, 8});
  wide.index_put_({index}, values); // expect: nondeterministic-op
  row.expand({4, 8}).scatter_(0, index, values); // expect: nondeterministic-op
  // Right.
  auto copy = row.expand({4, 8}).clone();
  copy.index_put_({index}, values);
  auto full = torch::zeros({4, 8});
  full.index_put_({index}, values);
  auto sum = wide.sum();
}

int main() {
  write(torch::arange(4), torch::rand({4, 8}));
}
