// What is known of LibTorch and CUDA programs where neither is installed.
#include "analyzer/scan/driver/declarations.h"
#include "rules/registry.h"

#include <gtest/gtest.h>

#include <set>

namespace reprobe::scan {
namespace {

TranslationUnit parse_without(const std::string& code, const std::string& language) {
  Toolchain tools;
  tools.clang_resources = find_toolchain({}, {}).clang_resources;
  Translation translation;
  translation.language = language;
  ParseRequest request;
  request.directory = request.root = "/code";
  request.main_file = language == "cuda" ? "/code/a.cu" : "/code/a.cpp";
  request.virtual_files[request.main_file.string()] = code;
  add_declarations(tools, translation, request);
  request.directory = "/";
  request.command = clang_command(request.main_file, translation, tools, {});
  return extract(request);
}

std::set<std::string> callees(const TranslationUnit& unit) {
  std::set<std::string> out;
  for (const Function& function : unit.functions)
    for (const Event& event : function.events)
      if (!event.callee.empty())
        out.insert(event.callee);
  return out;
}

TEST(Declarations, ATrainerParsesWithoutLibtorch) {
  const TranslationUnit unit = parse_without(R"(
    #include <torch/torch.h>
    struct NetImpl : torch::nn::Module {
      NetImpl() : conv(torch::nn::Conv2dOptions(1, 10, 5).stride(2)), fc(320, 10) { register_module("conv", conv); fc = register_module("fc", torch::nn::Linear(320, 10)); }
      torch::Tensor forward(torch::Tensor x) {
        x = torch::relu(torch::max_pool2d(conv->forward(x), 2));
        x = x.view({-1, 320});
        return torch::log_softmax(fc(x), 1);
      }
      torch::nn::Conv2d conv; torch::nn::Linear fc;
    };
    TORCH_MODULE(Net);
    int main() {
      torch::manual_seed(1);
      at::globalContext().setDeterministicCuDNN(true);
      torch::Device device(torch::kCUDA);
      Net net; net->to(device);
      auto data = torch::data::datasets::MNIST("./data").map(torch::data::transforms::Normalize<>(0.1, 0.3)).map(torch::data::transforms::Stack<>());
      auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(std::move(data), torch::data::DataLoaderOptions().batch_size(64).workers(2));
      torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01).momentum(0.5));
      for (auto& batch : *loader) {
        optimizer.zero_grad();
        auto loss = torch::nll_loss(net->forward(batch.data.to(device)), batch.target);
        auto out = torch::zeros({4, 4}, torch::kFloat32).index_add_(0, torch::randint(0, 4, {4}), torch::randn({4, 4}));
        loss.backward();
        optimizer.step();
      }
    })",
                                             "c++");
  EXPECT_EQ(unit.status, "full") << unit.reason;
  EXPECT_EQ(unit.libtorch_version, "declarations");
  const auto names = callees(unit);
  for (const char* name :
       {"at::manual_seed", "at::Context::setDeterministicCuDNN", "torch::nn::Conv2dImpl::forward", "at::relu",
        "torch::data::make_data_loader", "torch::optim::SGD::SGD", "at::Tensor::index_add_",
        "at::Tensor::backward", "torch::randn", "torch::zeros", "torch::data::DataLoaderOptions::workers"})
    EXPECT_TRUE(names.contains(name)) << name;
}

// `at::f` → `at::f(t, 0);`, `at::Tensor::f` → `t.f(t, 0);`, a module → a variable of it.
std::string use_of(const std::string& symbol) {
  const auto last = symbol.rfind("::");
  const std::string scope = symbol.substr(0, last), name = symbol.substr(last + 2);
  if (scope == "at::Tensor")
    return "t." + name + "(0);\n";
  if (scope == "at::Context")
    return "at::globalContext()." + name + "(any" + (name == "setDeterministicAlgorithms" ? ", any" : "") + ");\n";
  if (scope == "at::autocast" || scope == "torch::nn::functional")
    return symbol + "(t);\n";
  if (scope == "torch::nn")
    return "{ " + symbol + " module(1); }\n";
  return scope == "at" && (std::islower(name[0]) || name[0] == '_') ? symbol + "(t, 0);\n" : "";
}

TEST(Declarations, WhatTheTablesNameIsDeclared) {
  std::set<std::string> symbols;
  for (const char* table : {"operators", "knobs"})
    for (const auto& row : rules::Registry::builtin().table(table))
      for (const auto& symbol : row.at("symbols"))
        symbols.insert(symbol.get<std::string>());
  std::string uses;
  for (const std::string& symbol : symbols)
    uses += use_of(symbol);
  const TranslationUnit unit =
      parse_without("#include <torch/torch.h>\nstruct Any { operator bool() const; operator std::string() const; };\nvoid use(torch::Tensor t, Any any) {\n" + uses + "}\n", "c++");
  EXPECT_EQ(unit.status, "full") << unit.reason << "\n" << uses;
  const auto names = callees(unit);
  for (const char* name : {"at::cumsum", "at::Tensor::put_", "at::Context::setSDPUseMath", "at::_convolution",
                           "at::autocast::set_cpu_enabled", "torch::nn::functional::grid_sample"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Declarations, AKernelParsesWithoutCuda) {
  const TranslationUnit unit = parse_without(R"(
    __global__ void add(float* s, const float* x, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) atomicAdd(s, x[i]);
      __syncthreads();
    }
    int main() { float* s; cudaMalloc(&s, 4); add<<<dim3(2, 2), 128>>>(s, s, 4); cudaDeviceSynchronize(); })",
                                             "cuda");
  EXPECT_EQ(unit.status, "full") << unit.reason;
  const auto names = callees(unit);
  for (const char* name : {"atomicAdd", "add", "cudaMalloc", "cudaDeviceSynchronize"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Declarations, NothingIsAddedWhereBothAreInstalled) {
  Toolchain tools;
  tools.torch = tools.cuda = "/somewhere";
  Translation translation;
  translation.language = "c++";
  ParseRequest request;
  add_declarations(tools, translation, request);
  EXPECT_TRUE(request.virtual_files.empty());
  EXPECT_TRUE(translation.arguments.empty());
}

TEST(Declarations, HipSourcesKeepTheirKernels) {
  const TranslationUnit unit = parse_without(R"(
    #include <hip/hip_runtime.h>
    __global__ void sum(float* out, const float* in) { atomicAdd(out, in[threadIdx.x]); }
    int main() {
      float *out, *in;
      hipMalloc(&out, 4);
      hipLaunchKernelGGL(sum, dim3(1), dim3(256), 0, 0, out, in);
    })",
                                             "cuda");
  EXPECT_NE(unit.status, "failed");
  EXPECT_TRUE(callees(unit).contains("atomicAdd"));
  EXPECT_TRUE(callees(unit).contains("sum"));
}

} // namespace
} // namespace reprobe::scan
