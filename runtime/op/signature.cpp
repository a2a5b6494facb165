// What makes two calls "the same" for measuring: operator, shapes, strides, types, device, integer arguments,
// mode, place in the source. Floating-point scalars count only as 0, 1 or other: an optimizer's step size
// changes with each step, and the operator that runs does not.
#include "runtime/op/flags.h"
#include "runtime/op/journal.h"

#include <cstdio>
#include <cstring>
#include <string_view>

namespace reprobe::op {
namespace {

std::uint64_t hash_double(double value) {
  return value == 0 ? 0 : value == 1 ? 1 : value != value ? 3 : 2;
}

std::uint64_t hash_tensor(std::uint64_t hash, const at::Tensor& tensor) {
  if (!tensor.defined())
    return mix(hash, 11);
  hash = mix(hash, static_cast<std::uint64_t>(tensor.scalar_type()) << 8 |
                       static_cast<std::uint64_t>(tensor.layout()));
  hash = mix(hash, static_cast<std::uint64_t>(tensor.device().type()) << 8 |
                       static_cast<std::uint8_t>(tensor.device().index()));
  hash = mix(hash, (tensor.requires_grad() ? 1 : 0) |
                       (tensor.unsafeGetTensorImpl()->is_wrapped_number() ? 2 : 0) |
                       (tensor.is_conj() ? 4 : 0) | (tensor.is_neg() ? 8 : 0));
  if (tensor.layout() != c10::kStrided || tensor.unsafeGetTensorImpl()->has_symbolic_sizes_strides())
    return hash;
  hash = mix(hash, static_cast<std::uint64_t>(tensor.dim()));
  for (const std::int64_t size : tensor.sizes())
    hash = mix(hash, static_cast<std::uint64_t>(size));
  for (const std::int64_t stride : tensor.strides())
    hash = mix(hash, static_cast<std::uint64_t>(stride));
  return hash;
}

std::uint64_t hash_value(std::uint64_t hash, const c10::IValue& value) {
  if (value.isTensor())
    return hash_tensor(hash, value.toTensor());
  if (value.isNone())
    return mix(hash, 7);
  if (value.isBool())
    return mix(hash, value.toBool() ? 21 : 20);
  if (value.isInt())
    return mix(hash, static_cast<std::uint64_t>(value.toInt()));
  if (value.isDouble())
    return mix(hash, 40 + hash_double(value.toDouble()));
  if (value.isString())
    return mix(hash, std::hash<std::string_view>{}(value.toStringView()));
  if (value.isDevice())
    return mix(hash, std::hash<c10::Device>{}(value.toDevice()));
  if (value.isGenerator())
    return mix(hash, 8);
  if (value.isTensorList()) {
    const auto& tensors = value.toListRef();
    hash = mix(hash, tensors.size());
    for (const auto& tensor : tensors)
      hash = hash_value(hash, tensor);
    return hash;
  }
  if (value.isList()) {
    const auto& elements = value.toListRef();
    hash = mix(hash, 100 + elements.size());
    for (const auto& element : elements)
      hash = hash_value(hash, element);
    return hash;
  }
  return mix(hash, 9);
}

void append_numbers(std::string& text, c10::IntArrayRef numbers) {
  text += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text += (i ? "," : "") + std::to_string(numbers[i]);
  text += ']';
}

void append_value(std::string& text, const c10::IValue& value) {
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    if (!tensor.defined()) {
      text += "undefined";
      return;
    }
    text += dtype_name(tensor.scalar_type());
    if (tensor.layout() != c10::kStrided) {
      text += " (not strided)";
      return;
    }
    append_numbers(text, tensor.sizes());
    if (!tensor.is_contiguous()) {
      text += " strides ";
      append_numbers(text, tensor.strides());
    }
  } else if (value.isNone()) {
    text += "none";
  } else if (value.isBool()) {
    text += value.toBool() ? "true" : "false";
  } else if (value.isInt()) {
    text += std::to_string(value.toInt());
  } else if (value.isDouble()) {
    char number[40];
    std::snprintf(number, sizeof number, "%.6g", value.toDouble());
    text += number;
  } else if (value.isString()) {
    text += '"' + value.toStringRef() + '"';
  } else if (value.isDevice()) {
    text += value.toDevice().str();
  } else if (value.isGenerator()) {
    text += "generator";
  } else if (value.isList()) {
    text += '[';
    const auto& elements = value.toListRef();
    for (std::size_t i = 0; i < elements.size() && i < 16; ++i) {
      if (i)
        text += ", ";
      append_value(text, elements[i]);
    }
    text += elements.size() > 16 ? ", ...]" : "]";
  } else {
    text += value.tagKind();
  }
}

std::string device_of(c10::ArrayRef<const c10::IValue> inputs) {
  for (const auto& value : inputs) {
    if (value.isTensor() && value.toTensor().defined() && value.toTensor().dim() > 0)
      return value.toTensor().device().str();
    if (value.isTensorList())
      for (const auto& tensor : value.toListRef())
        if (tensor.toTensor().defined())
          return tensor.toTensor().device().str();
    if (value.isDevice())
      return value.toDevice().str();
  }
  for (const auto& value : inputs)
    if (value.isTensor() && value.toTensor().defined())
      return value.toTensor().device().str();
  return "cpu";
}

std::string autocast_name() {
  for (const auto device : {at::kCUDA, at::kCPU})
    if (at::autocast::is_autocast_enabled(device))
      return dtype_name(at::autocast::get_autocast_dtype(device));
  return "none";
}

std::uint64_t mode_bits() {
  const auto& context = at::globalContext();
  std::uint64_t bits = (context.deterministicAlgorithms() ? 1 : 0) |
                       (context.deterministicAlgorithmsWarnOnly() ? 2 : 0) |
                       (context.benchmarkCuDNN() ? 4 : 0) | (context.deterministicCuDNN() ? 8 : 0) |
                       (c10::GradMode::is_enabled() ? 16 : 0) | (flags::tf32_matmul() ? 32 : 0) |
                       (flags::tf32_cudnn() ? 64 : 0);
  for (const auto device : {at::kCPU, at::kCUDA})
    bits = bits << 8 | (at::autocast::is_autocast_enabled(device)
                            ? 1 + static_cast<std::uint64_t>(at::autocast::get_autocast_dtype(device))
                            : 0);
  return bits;
}

} // namespace

std::string dtype_name(c10::ScalarType type) {
  switch (type) {
  case c10::kFloat:
    return "float32";
  case c10::kDouble:
    return "float64";
  case c10::kHalf:
    return "float16";
  case c10::kBFloat16:
    return "bfloat16";
  case c10::kLong:
    return "int64";
  case c10::kInt:
    return "int32";
  case c10::kShort:
    return "int16";
  case c10::kChar:
    return "int8";
  case c10::kByte:
    return "uint8";
  case c10::kBool:
    return "bool";
  case c10::kComplexFloat:
    return "complex64";
  case c10::kComplexDouble:
    return "complex128";
  case c10::kComplexHalf:
    return "complex32";
  default:
    return c10::toString(type);
  }
}

Signature* find_signature(ThreadState& thread, const Operator& op, c10::ArrayRef<const c10::IValue> inputs,
                          const Position& position) {
  const Signature* parent = thread.sandbox ? thread.sandbox->parent : nullptr;
  std::uint64_t hash = mix(reinterpret_cast<std::uintptr_t>(&op), mode_bits());
  hash = mix(hash, position.site ? position.site->hash : 0);
  hash = mix(hash, position.backward ? reinterpret_cast<std::uintptr_t>(position.backward->name) : 0);
  hash = mix(hash, parent ? parent->hash : 0);
  for (const auto& value : inputs)
    hash = hash_value(hash, value);

  if (const auto known = thread.signatures.find(hash); known != thread.signatures.end())
    return known->second;
  Signature* signature = nullptr;
  bool fresh = false;
  {
    std::lock_guard lock(registry().signatures_mutex);
    Signature*& entry = registry().signatures[hash];
    if (!entry) {
      if (registry().signatures.size() > SharedPage::kSignatures) {
        registry().signatures.erase(hash);
        journal::page().unlisted.fetch_add(1, std::memory_order_relaxed);
        return nullptr;
      }
      entry = new Signature;
      entry->id = static_cast<std::uint32_t>(registry().signatures.size() - 1);
      entry->hash = hash;
      entry->op = &op;
      entry->calls = &journal::page().calls[entry->id];
      entry->text = "(";
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (i)
          entry->text += ", ";
        append_value(entry->text, inputs[i]);
      }
      entry->text += ")";
      entry->device = device_of(inputs);
      entry->site = position.site;
      entry->parent = parent;
      if (position.backward) {
        entry->direction = "backward";
        entry->backward_node = *position.backward->name;
        entry->backward_of_function = position.backward->function;
      } else if (parent) {
        entry->direction = parent->direction;
        entry->backward_node = parent->backward_node;
        entry->backward_of_function = parent->backward_of_function;
      }
      const auto& context = at::globalContext();
      entry->autocast = autocast_name();
      entry->strict = context.deterministicAlgorithms();
      entry->warn_only = context.deterministicAlgorithmsWarnOnly();
      entry->benchmark = context.benchmarkCuDNN();
      entry->cudnn_deterministic = context.deterministicCuDNN();
      entry->grad = c10::GradMode::is_enabled();
      entry->tf32_matmul = flags::tf32_matmul();
      entry->tf32_cudnn = flags::tf32_cudnn();
      fresh = true;
    }
    signature = entry;
  }
  if (fresh && !parent)
    journal::signature(*signature); // children are listed only when they vary
  return thread.signatures[hash] = signature;
}

} // namespace reprobe::op
