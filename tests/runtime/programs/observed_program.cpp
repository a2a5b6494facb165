// The program that the tests of `reprobe run` observe. Its first argument says what it does; it prints hashes of what
// it computed, so that two runs can be compared bit by bit.
#include <ATen/autocast_mode.h>
#include <reprobe/observe.h>
#include <torch/torch.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAVE_NVTX
#endif

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern std::atomic<bool> main_has_begun; // of the scripted operators

namespace {

std::uint64_t hash_of(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().contiguous();
  std::uint64_t hash = 1469598103934665603ull;
  const auto* bytes = static_cast<const unsigned char*>(dense.const_data_ptr());
  for (std::size_t i = 0; i < dense.nbytes(); ++i) hash = (hash ^ bytes[i]) * 1099511628211ull;
  return hash;
}

void print(const char* name, const at::Tensor& tensor) {
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(hash_of(tensor)));
}

at::Tensor scripted(const char* name, std::vector<c10::IValue> arguments) {
  c10::Dispatcher::singleton().findSchemaOrThrow(name, "").callBoxed(&arguments);
  return arguments.at(0).toTensor();
}

struct Net : torch::nn::Module {
  torch::nn::Conv2d convolution{nullptr};
  torch::nn::BatchNorm2d norm{nullptr};
  torch::nn::Linear linear{nullptr};
  torch::nn::Embedding embedding{nullptr};
  Net() {
    convolution = register_module("convolution", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 6, 3).padding(1)));
    norm = register_module("norm", torch::nn::BatchNorm2d(6));
    linear = register_module("linear", torch::nn::Linear(6 * 16 + 4, 5));
    embedding = register_module("embedding", torch::nn::Embedding(7, 4));
  }
  at::Tensor forward(const at::Tensor& images, const at::Tensor& kinds) {
    at::Tensor x = convolution(images); // line: convolution
    x = torch::relu(norm(x));
    x = torch::dropout(torch::max_pool2d(x, 2), 0.3, is_training());
    at::Tensor extra = embedding(kinds); // line: embedding
    x = linear(torch::cat({x.flatten(1), extra}, 1)); // line: linear
    return x;
  }
};

/// Dropout, batch norm, autocast, Adam, and threads that draw from generators of their own meanwhile.
void train() {
  torch::manual_seed(7);
  Net net;
  torch::optim::Adam optimizer(net.parameters(), torch::optim::AdamOptions(1e-2).weight_decay(1e-3));
  std::vector<std::thread> threads;
  std::vector<at::Tensor> drawn(3);
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] {
      at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(100 + i);
      drawn[i] = torch::zeros({4});
      for (int k = 0; k < 60; ++k) drawn[i] += torch::rand({4}, generator);
    });
  for (int step = 0; step < 6; ++step) {
    const at::Tensor images = torch::randn({4, 3, 8, 8});
    const at::Tensor kinds = torch::randint(7, {4}), labels = torch::randint(5, {4});
    optimizer.zero_grad();
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, step % 2 == 1);
    const at::Tensor output = net.forward(images, kinds);
    at::autocast::set_autocast_enabled(at::kCPU, false);
    at::autocast::clear_cache();
    const at::Tensor loss = torch::cross_entropy_loss(output.to(at::kFloat), labels); // line: loss
    loss.backward();
    torch::nn::utils::clip_grad_norm_(net.parameters(), 1.0);
    optimizer.step();
    print("loss", loss);
  }
  for (auto& thread : threads) thread.join();
  for (const auto& parameter : net.named_parameters()) print(parameter.key().c_str(), parameter.value());
  for (const auto& buffer : net.named_buffers()) print(buffer.key().c_str(), buffer.value());
  for (const auto& tensor : drawn) print("drawn", tensor);
  print("next random numbers", torch::rand({8}));
}

/// Threads that share the default generator: in any order, together they get exactly its sequence.
void share_generator() {
  torch::manual_seed(11);
  constexpr int kThreads = 4, kDraws = 1500;
  std::vector<std::vector<std::int64_t>> drawn(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      at::Tensor value = torch::zeros({1}, at::kLong);
      for (int k = 0; k < kDraws; ++k) {
        if (k % 2) value.random_(0, 1 << 30);
        else value = torch::randint(1 << 30, {1}, at::kLong);
        drawn[i].push_back(*value.const_data_ptr<std::int64_t>());
      }
    });
  for (auto& thread : threads) thread.join();
  std::vector<std::int64_t> all;
  for (const auto& values : drawn) all.insert(all.end(), values.begin(), values.end());
  std::sort(all.begin(), all.end());
  print("all", torch::from_blob(all.data(), {static_cast<std::int64_t>(all.size())}, at::kLong));
  print("next", torch::rand({4}));
}

/// Every form in which an argument can come.
void arguments() {
  torch::manual_seed(3);
  at::Tensor x = torch::randn({6, 4}), y = torch::randn({6, 4});
  x.add_(y).mul_(0.5);
  x.select(0, 2).add_(1);
  x.t().mul_(y.t());
  at::Tensor out = torch::zeros({0});
  at::add_out(out, x, y);
  at::Tensor values = torch::empty({0}), indices = torch::empty({0}, at::kLong);
  at::topk_out(values, indices, x, 2);
  at::Tensor windows = x.flatten().as_strided({5, 8}, {4, 1});
  print("sum of windows", windows.sum(1));
  print("cat", torch::cat({x, y.t().contiguous().t(), out}, 1));
  x.index_put_({torch::tensor({0, 2, 2})}, torch::tensor(3.f), /*accumulate=*/true);
  print("index", x.index({torch::tensor({0, 2}), torch::indexing::Slice()}));
  print("scalar", torch::tensor(2.5) * torch::tensor(1.5));
  print("empty", torch::zeros({0, 3}) + 1);
  print("complex", torch::view_as_complex(torch::randn({4, 2})) * torch::view_as_complex(torch::randn({4, 2})).conj());
  const at::Tensor images = torch::randn({2, 3, 5, 5}).contiguous(at::MemoryFormat::ChannelsLast);
  print("channels last", torch::conv2d(images, torch::randn({4, 3, 3, 3})));
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(5);
  print("normal", at::normal(0.0, 1.0, {5}, generator));
  print("multinomial", torch::multinomial(torch::rand({8}), 4));
  print("randperm", torch::randperm(9));
  print("bernoulli", torch::empty({7}).bernoulli_(0.4));
  print("rrelu", torch::rrelu(x, 0.1, 0.3, /*training=*/true));
  at::Tensor mean = torch::zeros({4}), variance = torch::ones({4});
  print("batch norm", torch::batch_norm(x, {}, {}, mean, variance, /*training=*/true, 0.1, 1e-5, true)); // line: batch norm
  print("running mean", mean);
  print("running variance", variance);
  at::Tensor row = torch::arange(4 << 20, at::kFloat).view({1 << 20, 4})[77777]; // a row of a large storage
  print("row", row * 2 + 1);
  std::vector<float> memory(67);
  at::Tensor unaligned = torch::from_blob(memory.data() + 1, {64}, at::kFloat);
  unaligned.normal_();
  print("unaligned", unaligned.sum());
  const at::Tensor bigger = torch::zeros({3}).resize_({5}).fill_(2);
  print("bigger", bigger);
  at::Tensor same = torch::randn({5});
  print("same tensor twice", torch::mul_out(same, same, same));
  print("next", torch::rand({4}));
  x = x.detach().requires_grad_();
  at::Tensor sorted = std::get<0>((x * x).sort(0));
  (sorted.index_select(0, torch::tensor({1, 1, 3})).logsumexp(1).sum() + x.unfold(0, 2, 1).prod(2).mean()).backward();
  print("grad", x.grad());
}

struct Twice : torch::autograd::Function<Twice> {
  static at::Tensor forward(torch::autograd::AutogradContext*, const at::Tensor& x) { return x * 2; }
  static torch::autograd::tensor_list backward(torch::autograd::AutogradContext*, torch::autograd::tensor_list grads) {
    return {grads[0].mul(2)};
  }
};

void backward_lines() {
  torch::manual_seed(5);
  at::Tensor source = torch::randn({4, 3}).requires_grad_(), table = torch::randn({9, 3}).requires_grad_();
  const at::Tensor index = torch::tensor({1, 1, 0, 2});
  at::Tensor x = table.index_select(0, index); // line: index_select
  x = torch::sigmoid(x + source); // line: sigmoid
  x = Twice::apply(x); // line: function
  x = x.logsumexp(1); // line: logsumexp
  std::thread([&] { x.sum().backward(); }).join();
  print("grad", table.grad());
}

/// Three steps, of shapes of their own.
void small_steps(bool marked) {
  torch::manual_seed(2);
  at::Tensor weight = torch::randn({4, 4}).requires_grad_();
  for (int step = 0; step < 3; ++step) {
    const reprobe::Region region(step == 1 ? "second" : "other");
    at::Tensor x = torch::ones({4 + step, 4}).matmul(weight);
    if (marked) {
      torch::autograd::grad({x.sum()}, {weight}, {}, true); // a second pass in the same step
      std::puts("marked");
    }

    x = torch::sigmoid(x); // line: step



    x.sum().backward();
    if (marked) reprobe::step();
  }
  print("grad", weight.grad());
}

/// Sets flags between steps.
void changing_flags() {
  at::Tensor weight = torch::ones({4, 4}).requires_grad_();
  const auto step = [&] { return weight.sigmoid().sum(); }; // line: flag again
  step().backward();
  at::globalContext().setBenchmarkCuDNN(true);
  at::globalContext().setAllowTF32CuBLAS(true);
  weight.cosh().sum().backward(); // line: after flags
  at::globalContext().setBenchmarkCuDNN(false);
  step().backward();
  print("grad", weight.grad());
}

void ranges() {
  const at::Tensor x = torch::ones({4}).requires_grad_();
  x.sin();
  at::Tensor y;
  {
    RECORD_USER_SCOPE("chosen");
    y = x.cos().sum();
  }
  y.backward();
#ifdef HAVE_NVTX
  nvtxRangePushA("outer");
  nvtxRangePushA("chosen");
  x.exp();
  nvtxRangePop();
  x.tan();
  nvtxRangePop();
#endif
  print("grad", x.grad());
}

void observes_itself() {
  torch::ones({4}).sin();
  for (int i = 0; i < 2; ++i) {
    reprobe::Observe observe({"self.json", {"--rounds", "5"}});
    std::printf("%s\n", observe ? "observed" : observe.reason().c_str());
    print("cos", torch::ones({4}).cos()); // line: observed by itself
  }
  torch::ones({4}).tan();
}

/// Four calls of one signature, of which the third varies.
void late_variance() {
  for (int i = 0; i < 4; ++i) print("result", scripted("scripted::late", {torch::full({2}, i, at::kFloat)}));
}

/// Examined only while a signal has switched it on.
void until_told() {
  std::puts("ready");
  std::fflush(stdout);
  const auto wait_for = [](const char* file) { while (::access(file, F_OK) != 0) ::usleep(20'000); };
  torch::ones({4}).sin();
  wait_for("on");
  torch::ones({4}).cos();
  wait_for("off");
  torch::ones({4}).tan();
}

/// Every form of argument in one call, and some that the others leave out.
void case_forms() {
  torch::manual_seed(9);
  const at::Tensor x = torch::randn({4, 6}), complex = torch::view_as_complex(torch::randn({3, 2}));
  const std::vector<at::Tensor> tensors = {x, x.t(), x.as_strided({5, 4}, {3, 1}), torch::zeros({0, 3}), torch::tensor(2.5),
                                           complex.conj(), x > 0, x.slice(1, 1, 6, 2)};
  c10::List<std::optional<at::Tensor>> optionals;
  optionals.push_back(std::nullopt);
  optionals.push_back(x[2]);
  std::vector<c10::IValue> stack = {tensors, optionals, c10::IValue(), std::vector<std::int64_t>{1, 2},
                                    std::vector<double>{0.5, 1e9}, c10::List<bool>({true, false}), "text",
                                    c10::complex<double>(1, -2), at::make_generator<at::CPUGeneratorImpl>(5)};
  c10::Dispatcher::singleton().findSchemaOrThrow("scripted::forms", "").callBoxed(&stack);
  at::Tensor mask = x > 0;
  mask.logical_xor_(mask.t().contiguous().t());
  torch::dropout(x, 0.5, true);
  x.t().normal_();
}

/// Each result under flags of the program's own.
void case_modes() {
  const at::Tensor x = torch::arange(8, at::kFloat);
  for (const char* name : {"scripted::only_in_main", "scripted::per_process", "scripted::heeds_strict", "scripted::refuses_strict"})
    scripted(name, {x});
  scripted("scripted::wobble", {x, 4});
}

/// Under autocast: the call that the program makes, and below it.
void case_autocast() {
  torch::manual_seed(2);
  const at::Tensor x = torch::randn({8, 16}), weight = torch::randn({4, 16});
  at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
  at::autocast::set_autocast_enabled(at::kCPU, true);
  torch::linear(x, weight);
  at::autocast::set_autocast_enabled(at::kCPU, false);
}

void scripted_variance() {
  const at::Tensor x = torch::arange(8, at::kFloat);
  const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("scripted::wobble", "").typed<at::Tensor(const at::Tensor&, std::int64_t)>();
  print("result", op.call(x, 3)); // line: wobble
}

} // namespace

int main(int count, char** values) {
  const std::string what = count > 1 ? values[1] : "train";
  main_has_begun = true;
  at::set_num_threads(2);
  const at::Tensor x = torch::arange(8, at::kFloat);
  const std::map<std::string, void (*)()> scenarios = {
      {"train", train}, {"share-generator", share_generator}, {"arguments", arguments},
      {"backward-lines", backward_lines}, {"wobble", scripted_variance},
      {"steps", [] { small_steps(false); }}, {"marked-steps", [] { small_steps(true); }}, {"flags", changing_flags},
      {"ranges", ranges}, {"observes-itself", observes_itself}, {"until-told", until_told}, {"late", late_variance},
      {"callbacks", [] { std::printf("%d\n", at::hasGlobalCallbacks()); }},
      {"case-forms", case_forms}, {"case-modes", case_modes}, {"case-autocast", case_autocast}};
  if (const auto found = scenarios.find(what); found != scenarios.end()) {
    found->second();
  } else if (what == "call-wobble") {
    print("result", scripted("scripted::call_wobble", {x, 4}));
  } else if (what == "one-ulp") {
    print("result", scripted("scripted::one_ulp", {x}));
  } else if (what == "ties") {
    print("result", scripted("scripted::ties", {x}));
  } else if (what == "sneaky") {
    at::Tensor changed = torch::zeros({8});
    print("result", scripted("scripted::sneaky", {changed}));
    print("argument", changed);
  } else if (what == "drift") {
    print("result", scripted("scripted::drift", {x}));
  } else if (what == "fragile") {
    print("result", scripted("scripted::fragile", {x.cos()}));
  } else if (what == "refusing") {
    print("result", scripted("scripted::refusing", {x}));
  } else if (what == "throwing-operator") {
    try {
      torch::matmul(torch::ones({2, 3}), torch::ones({2, 3})); // line: throws
    } catch (const c10::Error&) {
      std::puts("caught");
    }
    print("sin", x.sin());
  } else if (what == "sparse") {
    print("dense", torch::sparse_coo_tensor(torch::tensor({{0, 2}}), torch::tensor({1.f, 2.f}), {4}).to_dense());
  } else if (what == "threaded-operator") {
    torch::manual_seed(1);
    print("threaded", scripted("scripted::threaded", {x}));
    print("after", at::rand({8}));
  } else if (what == "descriptors") {
    print("exp", x.exp());
    for (int descriptor = 3; descriptor < 1024; ++descriptor) ::close(descriptor);
    const int file = ::open("users-own.txt", O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0644);
    for (int descriptor = 4; descriptor < 1000; ++descriptor) ::dup2(file, descriptor);
    print("sin", x.sin());
    ::dprintf(file, "the user's\n");
  } else if (what == "file-size-limit") {
    const rlimit limit{100, 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    print("sin", x.sin());
    print("cos", x.cos());
  } else if (what == "nothing") {
    std::puts("nothing");
  } else if (what == "echo") {
    for (int c; (c = std::getchar()) != EOF;) std::putchar(c);
    std::fputs("to standard error\n", stderr);
    x.sin();
  } else {
    print("sin", x.sin());
    std::fflush(stdout);
    if (what == "segfault") std::raise(SIGSEGV);
    if (what == "abort") std::abort();
    if (what == "kill") ::kill(::getpid(), SIGKILL);
    if (what == "_exit") ::_exit(0);
    if (what == "_exit-5") ::_exit(5);
    if (what == "exit") std::exit(7);
    if (what == "throw") throw std::runtime_error("out of main");
    if (what == "wait") ::pause();
    if (what == "start-another") {
      std::fflush(stdout);
      if (std::system((std::string(values[0]) + " cos").c_str()) != 0) return 1;
    }
    if (what == "cos") x.cos();
    if (what == "exec") ::execlp("echo", "echo", "another program", nullptr);
    if (what == "fork") {
      const pid_t child = ::fork();
      if (child == 0) {
        print("cos in the child", x.cos());
        std::exit(0);
      }
      int status = 0;
      ::waitpid(child, &status, 0);
      std::printf("child ended with %d\n", status);
    }
  }
}
