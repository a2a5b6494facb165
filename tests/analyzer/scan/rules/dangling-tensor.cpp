#include <torch/torch.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

std::vector<float> read(int i);

torch::Tensor returned(int i) {
  std::vector<float> pixels = read(i);
  return torch::from_blob(pixels.data(), {3, 4}); // expect: dangling-tensor
}

torch::Tensor view_returned(int i) {
  float buffer[12] = {};
  buffer[i] = 1;
  auto t = torch::from_blob(buffer, {3, 4}, torch::kFloat); // expect: dangling-tensor
  t = t.permute({1, 0});
  t.mul_(2);
  return t.unsqueeze(0);
}

torch::Tensor of_parameter(std::vector<float> values) {
  return torch::from_blob(&values[0], {12}); // expect: dangling-tensor
}

struct Data : torch::data::Dataset<Data> {
  torch::data::Example<> get(size_t i) override {
    std::vector<float> pixels = read(i);
    auto image = torch::from_blob(pixels.data(), {3, 4}); // expect: dangling-tensor
    return {image, torch::zeros({1})};
  }
  torch::optional<size_t> size() const override { return 1; }
  void load() {
    std::array<float, 4> mean{};
    mean_ = torch::from_blob(mean.data(), {4}); // expect: dangling-tensor
    for (int i = 0; i < 3; ++i) {
      auto row = read(i);
      rows_.push_back(torch::from_blob(row.data(), {4})); // expect: dangling-tensor
    }
  }
  torch::Tensor mean_;
  std::vector<torch::Tensor> rows_;
};

torch::Tensor stacked(bool often) {
  std::vector<torch::Tensor> rows;
  for (int i = 0; i < 3; ++i) {
    auto row = read(i);
    auto t = torch::from_blob(row.data(), {4}); // expect: dangling-tensor
    rows.push_back(t);
  }
  return torch::stack(rows);
}

struct Sample {
  std::vector<float> values;
  torch::Tensor tensor;
};

torch::Tensor of_member(int i) {
  Sample sample;
  sample.values = read(i);
  sample.tensor = torch::from_blob(sample.values.data(), {4}); // expect: dangling-tensor
  return sample.tensor;
}

// Right: copied, used while the memory is there, memory of somebody else, a deleter.
torch::Tensor copied(int i, bool twice) {
  std::vector<float> pixels = read(i);
  auto t = torch::from_blob(pixels.data(), {3, 4}).clone();
  auto u = torch::from_blob(pixels.data(), {3, 4});
  u = u.permute({1, 0});
  u = twice ? u * 2 : u.div(2);
  return t + u;
}

float in_scope(int i) {
  std::vector<float> pixels = read(i);
  auto t = torch::from_blob(pixels.data(), {3, 4});
  return t.sum().item<float>();
}

torch::Tensor of_caller(std::vector<float>& values, float* raw, std::vector<float*> rows) {
  static std::vector<float> cache = read(0);
  auto& alias = values;
  std::vector<torch::Tensor> all = {torch::from_blob(values.data(), {4}), torch::from_blob(raw, {4}),
                                    torch::from_blob(cache.data(), {4}), torch::from_blob(rows[0], {4})};
  all.push_back(torch::from_blob(alias.data(), {4}));
  return all[0];
}

torch::Tensor with_deleter(int i) {
  auto* pixels = new std::vector<float>(read(i));
  std::vector<float> other = read(i);
  (void)other;
  return torch::from_blob(pixels->data(), {3, 4}, [pixels](void*) { delete pixels; });
}

torch::Tensor batched() {
  std::vector<torch::Tensor> rows;
  for (int i = 0; i < 3; ++i) {
    auto row = read(i);
    auto t = torch::from_blob(row.data(), {4});
    rows.push_back(t.to(torch::kDouble));
  }
  torch::Tensor result = torch::zeros({4});
  {
    auto row = read(3);
    auto t = torch::from_blob(row.data(), {4});
    result.copy_(t);
    result += t;
  }
  return torch::stack(rows) + result;
}

torch::Tensor moved(std::vector<std::vector<float>>& kept) {
  auto row = read(0);
  auto t = torch::from_blob(row.data(), {4});
  kept.push_back(std::move(row));
  return t;
}
