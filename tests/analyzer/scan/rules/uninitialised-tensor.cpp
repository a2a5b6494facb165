// Tensors of uninitialised memory: read at once, or written first.
#include <torch/torch.h>

torch::Tensor pooled(torch::Tensor features, torch::Tensor index) {
  auto sums = torch::empty({8, features.size(1)}, features.options()); // expect: uninitialised-tensor
  sums.index_add_(0, index, features);
  return sums;
}

torch::Tensor added(torch::Tensor x) {
  torch::Tensor total = torch::empty_like(x); // expect: uninitialised-tensor
  for (int i = 0; i < 3; ++i) total += x;
  return total;
}

torch::Tensor used_as_operand(torch::Tensor x) {
  auto noise = torch::empty(x.sizes(), x.options()); // expect: uninitialised-tensor
  return x + noise;
}

torch::Tensor at_once(torch::Tensor x) {
  return x.new_empty({4}).add_(x); // expect: uninitialised-tensor
}

torch::Tensor through_a_view(torch::Tensor x) {
  auto grid = torch::empty({4, 4}); // expect: uninitialised-tensor
  grid.view({16}).add_(x);
  return grid;
}

torch::Tensor written_too_late(torch::Tensor x) {
  auto buffer = torch::empty({4}); // expect: uninitialised-tensor
  auto mean = buffer.mean();
  buffer.copy_(x);
  return mean;
}

// Right.
torch::Tensor filled_first(torch::Tensor x) {
  auto a = torch::empty({4});
  a.fill_(1);
  auto b = torch::empty_like(x).uniform_(0, 1);
  auto c = torch::empty({4});
  c.copy_(x);
  auto d = torch::empty({4});
  torch::nn::init::constant_(d, 2);
  auto e = torch::empty({4});
  torch::add_out(e, x, x);
  auto f = torch::empty({4, 4});
  f.index_put_({0}, x);
  f[1] = x;
  f.select(0, 2).copy_(x);
  return a + b + c + d + e + f.sum(0);
}

torch::Tensor row_by_row(const std::vector<torch::Tensor>& rows) {
  auto out = torch::empty({static_cast<int64_t>(rows.size()), 4});
  for (std::size_t i = 0; i < rows.size(); ++i) out[static_cast<int64_t>(i)] = rows[i];
  return out * 2;
}

torch::Tensor in_a_loop(torch::Tensor x) {
  auto state = torch::empty({4});
  torch::Tensor out = torch::zeros({4});
  for (int i = 0; i < 3; ++i) {
    if (i > 0) out += state;
    state.copy_(x);
  }
  return out;
}

void fill(float* data, int64_t count);
void fill_tensor(torch::Tensor& t);

torch::Tensor by_address() {
  auto a = torch::empty({4});
  fill(a.data_ptr<float>(), a.numel());
  auto b = torch::empty({4});
  fill_tensor(b);
  auto c = torch::empty({4});
  auto view = c.accessor<float, 1>();
  view[0] = 1;
  auto d = torch::empty({4});
  auto write = [&] { d.zero_(); };
  write();
  return a + b + c + d;
}

torch::Tensor nothing_to_read(torch::Tensor x) {
  auto none = torch::empty({0}, x.options());
  auto rows = torch::empty({0, 4});
  return torch::cat({none, x}) + rows.sum(0);
}

torch::Tensor only_described(torch::Tensor x) {
  auto shape = torch::empty({4, 4});
  auto same = torch::zeros_like(shape);
  return x.view(shape.sizes()) + same;
}

torch::Tensor replaced(torch::Tensor x) {
  auto out = torch::empty({4});
  out = x.clone();
  return out + x;
}

struct Buffer : torch::nn::Module {
  Buffer() { memory = register_buffer("memory", torch::empty({4})); }
  torch::Tensor forward(torch::Tensor x) {
    memory.copy_(x);
    return memory + x;
  }
  torch::Tensor memory;
};

namespace mine {
torch::Tensor empty(std::vector<int64_t> sizes) { return torch::zeros(sizes); }
} // namespace mine

torch::Tensor own_function(torch::Tensor x) {
  return mine::empty({4}) + x;
}
