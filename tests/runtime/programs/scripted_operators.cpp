// Operators whose behaviour over repeated calls is known exactly.
#include <ATen/ATen.h>
#include <torch/library.h>

#include <atomic>
#include <csignal>
#include <stdexcept>
#include <thread>

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

} // namespace

TORCH_LIBRARY(scripted, library) {
  library.def("wobble(Tensor x, int period) -> Tensor", &wobble);
  library.def("call_wobble(Tensor x, int period) -> Tensor", &call_wobble);
  library.def("late(Tensor x) -> Tensor", &late);
  library.def("one_ulp(Tensor x) -> Tensor", &one_ulp);
  library.def("sneaky(Tensor x) -> Tensor", &sneaky);
  library.def("drift(Tensor x) -> Tensor", &drift);
  library.def("fragile(Tensor x) -> Tensor", &fragile);
  library.def("threaded(Tensor x) -> Tensor", &threaded);
  library.def("refusing(Tensor x) -> Tensor", &refusing);
}
