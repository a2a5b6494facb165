// The program that the GPU tests observe. Its first argument says what it does; it prints hashes of its
// results.
#include <ATen/autocast_mode.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>
#include <torch/torch.h>

#include <cstdio>
#include <string>

void float_bin_sums(const float* values, float* bins, long long count, int bin_count, cudaStream_t stream);
void integer_bin_sums(const int* values, int* bins, long long count, int bin_count, cudaStream_t stream);

namespace {

at::Tensor float_sums(const at::Tensor& values, std::int64_t bins) {
  at::Tensor result = at::zeros({bins}, values.options());
  float_bin_sums(values.const_data_ptr<float>(), result.mutable_data_ptr<float>(), values.numel(),
                 static_cast<int>(bins), c10::cuda::getCurrentCUDAStream());
  return result;
}

at::Tensor integer_sums(const at::Tensor& values, std::int64_t bins) {
  at::Tensor result = at::zeros({bins}, values.options());
  integer_bin_sums(values.const_data_ptr<int>(), result.mutable_data_ptr<int>(), values.numel(),
                   static_cast<int>(bins), c10::cuda::getCurrentCUDAStream());
  return result;
}

at::Tensor call(const char* name, const at::Tensor& values, std::int64_t bins) {
  return c10::Dispatcher::singleton()
      .findSchemaOrThrow(name, "")
      .typed<at::Tensor(const at::Tensor&, std::int64_t)>()
      .call(values, bins); // line: dispatch
}

void print(const char* name, const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().cpu().contiguous();
  std::uint64_t hash = 1469598103934665603ull;
  const auto* bytes = static_cast<const unsigned char*>(host.const_data_ptr());
  for (std::size_t i = 0; i < host.nbytes(); ++i)
    hash = (hash ^ bytes[i]) * 1099511628211ull;
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash));
}

/// With every switch that makes it reproducible.
void train() {
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setBenchmarkCuDNN(false);
  torch::manual_seed(7);
  torch::nn::Sequential net(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 16, 3).padding(1)),
                            torch::nn::BatchNorm2d(16), torch::nn::ReLU(), torch::nn::Dropout(0.25),
                            torch::nn::Conv2d(torch::nn::Conv2dOptions(16, 8, 3).stride(2)),
                            torch::nn::Flatten(), torch::nn::Linear(8 * 7 * 7, 10));
  net->to(at::kCUDA);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));
  for (int step = 0; step < 6; ++step) {
    const at::Tensor images = torch::randn({8, 3, 16, 16}, at::kCUDA);
    const at::Tensor labels = torch::randint(10, {8}, at::TensorOptions().dtype(at::kLong).device(at::kCUDA));
    optimizer.zero_grad();
    at::autocast::set_autocast_enabled(at::kCUDA, step % 2 == 1);
    const at::Tensor output = net->forward(images);
    at::autocast::set_autocast_enabled(at::kCUDA, false);
    at::autocast::clear_cache();
    const at::Tensor loss = torch::cross_entropy_loss(output.to(at::kFloat), labels);
    loss.backward();
    optimizer.step();
    print("loss", loss);
  }
  for (const auto& parameter : net->named_parameters())
    print(parameter.key().c_str(), parameter.value());
  for (const auto& buffer : net->named_buffers())
    print(buffer.key().c_str(), buffer.value());
  print("next random numbers", torch::rand({8}, at::kCUDA));
}

void index_add() {
  const at::Tensor source = torch::randn({200000, 8}, at::kCUDA);
  const at::Tensor index =
      torch::randint(16, {200000}, at::TensorOptions().dtype(at::kLong).device(at::kCUDA));
  at::Tensor sums = torch::zeros({16, 8}, at::kCUDA);
  sums.index_add_(0, index, source); // line: index_add
}

void convolution() {
  at::Tensor images = torch::randn({16, 8, 32, 32}, at::kCUDA);
  at::Tensor weight = torch::randn({16, 8, 3, 3}, at::kCUDA).requires_grad_();
  at::Tensor result = torch::conv2d(images, weight); // line: convolution
  result.sum().backward();
}

void embedding() {
  at::Tensor table = torch::randn({4, 64}, at::kCUDA).requires_grad_();
  const at::Tensor index =
      torch::randint(4, {100000}, at::TensorOptions().dtype(at::kLong).device(at::kCUDA));
  at::Tensor picked = table.index_select(0, index); // line: index_select
  (picked * torch::randn_like(picked)).sum().backward();
}

void linear() {
  const at::Tensor x = torch::randn({256, 512}, at::kCUDA), weight = torch::randn({128, 512}, at::kCUDA);
  print("linear", torch::linear(x, weight));
}

} // namespace

TORCH_LIBRARY(own, library) {
  library.def("float_sums(Tensor values, int bins) -> Tensor");
  library.def("integer_sums(Tensor values, int bins) -> Tensor");
}
TORCH_LIBRARY_IMPL(own, CUDA, library) {
  library.impl("float_sums", &float_sums);
  library.impl("integer_sums", &integer_sums);
}

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "train";
  torch::manual_seed(1);
  if (what == "train")
    train();
  if (what == "index-add")
    index_add();
  if (what == "index-add-deterministic") {
    at::globalContext().setDeterministicAlgorithms(true, false);
    index_add();
  }
  if (what == "convolution")
    convolution();
  if (what == "embedding")
    embedding();
  if (what == "linear")
    linear();
  if (what == "own-kernels") {
    const at::Tensor values_on_device = torch::randn({1 << 20}, at::kCUDA);
    const at::Tensor floats = call("own::float_sums", values_on_device, 8);
    const at::Tensor integers =
        call("own::integer_sums",
             torch::arange(1 << 20, at::TensorOptions().dtype(at::kInt).device(at::kCUDA)), 8);
    std::printf("%g %lld\n", floats.sum().item<double>(),
                static_cast<long long>(integers.sum().item<std::int64_t>()));
  }
}
