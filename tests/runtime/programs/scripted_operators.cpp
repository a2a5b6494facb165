// Operators whose behaviour over repeated calls is known exactly.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <thread>
#include <unistd.h>

std::atomic<bool> main_has_begun{false}; // set by the program

namespace {

std::atomic<int> wobble_calls{0}, drift_calls{0}, fragile_calls{0}, refusing_calls{0};

/// One of `period` results, in turns.
at::Tensor wobble(const at::Tensor& x, std::int64_t period) {
  return at::add(x, static_cast<double>(wobble_calls++ % period));
}

at::Tensor call_wobble(const at::Tensor& x, std::int64_t period) {
  static auto op = c10::Dispatcher::singleton()
                       .findSchemaOrThrow("scripted::wobble", "")
                       .typed<at::Tensor(const at::Tensor&, std::int64_t)>();
  return at::neg(op.call(at::abs(x), period));
}

/// Changes one element of eight, by one unit in the last place of 1.0f, every other time.
at::Tensor one_ulp(const at::Tensor& x) {
  at::Tensor result = at::ones_like(x);
  if (wobble_calls++ % 2)
    result.data_ptr<float>()[3] = 1.00000011920928955078125f;
  return result;
}

/// Varies only where its argument holds 2.
at::Tensor late(const at::Tensor& x) {
  const bool varies = x.const_data_ptr<float>()[0] == 2;
  return at::add(x, varies ? static_cast<double>(wobble_calls++ % 2) : 0.0);
}

/// Indices in memory format channels_last; every other time [0,1,0,1] and [0,0,1,1] change places.
at::Tensor ties(const at::Tensor&) {
  at::Tensor result = at::arange(8, at::kLong).view({1, 2, 2, 2}).contiguous(at::MemoryFormat::ChannelsLast);
  auto* data = result.data_ptr<std::int64_t>();
  if (wobble_calls++ % 2)
    std::swap(data[3], data[6]);
  return result;
}

/// Writes its argument although its schema does not say so.
at::Tensor sneaky(const at::Tensor& x) {
  at::Tensor(x).data_ptr<float>()[0] += 1;
  return at::mul(x, 2);
}

/// The first call gives another result than all later ones.
at::Tensor drift(const at::Tensor& x) {
  return at::add(x, drift_calls++ ? 1 : 0);
}

/// Crashes when it is called again.
at::Tensor fragile(const at::Tensor& x) {
  if (fragile_calls++)
    std::raise(SIGSEGV);
  return at::neg(x);
}

/// Throws when it is called again.
at::Tensor refusing(const at::Tensor& x) {
  if (refusing_calls++)
    throw std::runtime_error("once only");
  return at::neg(x);
}

/// Draws random numbers, and waits for a thread that calls operators of its own.
at::Tensor threaded(const at::Tensor& x) {
  at::Tensor noise = at::rand_like(x), other;
  std::thread thread([&] { other = at::mul(x, 2); });
  thread.join();
  return at::add(noise, other);
}

/// Every form of argument, in one sum; three results in turns.
at::Tensor forms(at::TensorList tensors, const c10::List<std::optional<at::Tensor>>& optionals,
                 const std::optional<at::Tensor>& absent, at::IntArrayRef ints, at::ArrayRef<double> doubles,
                 std::array<bool, 2> bools, std::string text, const at::Scalar& complex,
                 std::optional<at::Generator> generator) {
  at::Tensor sum = at::zeros({}, at::kComplexDouble);
  for (const at::Tensor& tensor : tensors)
    sum = sum + tensor.to(at::kComplexDouble).sum();
  for (const std::optional<at::Tensor>& tensor : optionals)
    if (tensor)
      sum = sum + tensor->to(at::kComplexDouble).sum();
  if (absent)
    throw std::runtime_error("an absent tensor is there");
  for (const std::int64_t value : ints)
    sum = sum + static_cast<double>(value);
  for (const double value : doubles)
    sum = sum + value;
  if (!bools[0] || bools[1] || text != "text")
    throw std::runtime_error("an argument is another one");
  sum = sum + complex + at::rand({}, generator, at::kDouble);
  return sum + static_cast<double>(wobble_calls++ % 3);
}

/// Crashes where the program's main does not run.
at::Tensor only_in_main(const at::Tensor& x) {
  if (!main_has_begun)
    std::raise(SIGSEGV);
  return at::neg(x);
}

/// One result a process.
at::Tensor per_process(const at::Tensor& x) {
  return at::add(x, static_cast<double>(::getpid()));
}

/// Varies; refuses to under deterministic algorithms.
at::Tensor refuses_strict(const at::Tensor& x) {
  at::globalContext().alertNotDeterministic("refuses_strict");
  return wobble(x, 2);
}

/// Varies, but not under deterministic algorithms.
at::Tensor heeds_strict(const at::Tensor& x) {
  return at::globalContext().deterministicAlgorithms() ? at::neg(x) : wobble(x, 2);
}

} // namespace

TORCH_LIBRARY(scripted, library) {
  library.def("wobble(Tensor x, int period) -> Tensor", &wobble);
  library.def("call_wobble(Tensor x, int period) -> Tensor", &call_wobble);
  library.def("late(Tensor x) -> Tensor", &late);
  library.def("one_ulp(Tensor x) -> Tensor", &one_ulp);
  library.def("ties(Tensor x) -> Tensor", &ties);
  library.def("sneaky(Tensor x) -> Tensor", &sneaky);
  library.def("drift(Tensor x) -> Tensor", &drift);
  library.def("fragile(Tensor x) -> Tensor", &fragile);
  library.def("threaded(Tensor x) -> Tensor", &threaded);
  library.def("refusing(Tensor x) -> Tensor", &refusing);
  library.def("forms(Tensor[] tensors, Tensor?[] optionals, Tensor? absent, int[] ints, float[] doubles, bool[2] bools, str "
              "text, Scalar complex, Generator? generator) -> Tensor",
              &forms);
  library.def("only_in_main(Tensor x) -> Tensor", &only_in_main);
  library.def("per_process(Tensor x) -> Tensor", &per_process);
  library.def("refuses_strict(Tensor x) -> Tensor", &refuses_strict);
  library.def("heeds_strict(Tensor x) -> Tensor", &heeds_strict);
}
