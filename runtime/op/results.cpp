#include "runtime/op/results.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>

namespace reprobe::op {
namespace {

using compare::Comparison;
using compare::Type;

struct Cuda {
  compare::CompareCuda compare = nullptr;
  compare::EqualCuda equal = nullptr;
};

/// Loaded when the first CUDA tensor is compared; without it results are compared on the host.
const Cuda& cuda(const std::string& library) {
  static const Cuda* loaded = [&] {
    auto* functions = new Cuda;
    void* handle = library.empty() ? nullptr : ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
      journal::remark("results on CUDA devices are compared on the host: " +
                      std::string(library.empty() ? "this build has no device code" : ::dlerror()));
      return functions;
    }
    functions->compare = reinterpret_cast<compare::CompareCuda>(::dlsym(handle, compare::kCompareCudaSymbol));
    functions->equal = reinterpret_cast<compare::EqualCuda>(::dlsym(handle, compare::kEqualCudaSymbol));
    return functions;
  }();
  return *loaded;
}

std::pair<Type, std::uint64_t> comparison_type(const at::Tensor& tensor) {
  const auto elements = static_cast<std::uint64_t>(tensor.numel());
  switch (tensor.scalar_type()) {
  case c10::kDouble:
    return {Type::float64, elements};
  case c10::kFloat:
    return {Type::float32, elements};
  case c10::kHalf:
    return {Type::float16, elements};
  case c10::kBFloat16:
    return {Type::bfloat16, elements};
  case c10::kComplexDouble:
    return {Type::float64, 2 * elements};
  case c10::kComplexFloat:
    return {Type::float32, 2 * elements};
  case c10::kComplexHalf:
    return {Type::float16, 2 * elements};
  case c10::kLong:
    return {Type::int64, elements};
  case c10::kInt:
    return {Type::int32, elements};
  case c10::kShort:
    return {Type::int16, elements};
  case c10::kChar:
    return {Type::int8, elements};
  default:
    return {Type::uint8, elements * tensor.element_size()};
  }
}

/// A number that a call gave back, as a tensor of its bits.
at::Tensor number(const c10::IValue& value) {
  if (value.isDouble()) {
    at::Tensor tensor = at::empty({}, at::kDouble);
    *static_cast<double*>(tensor.data_ptr()) = value.toDouble();
    return tensor;
  }
  at::Tensor tensor = at::empty({}, at::kLong);
  *static_cast<std::int64_t*>(tensor.data_ptr()) = value.isBool() ? value.toBool() : value.toInt();
  return tensor;
}

void add_results(const std::string& name, const c10::IValue& value, std::vector<ResultTensor>& into) {
  if (value.isTensor()) {
    into.push_back({name, value.toTensor()});
  } else if (value.isDouble() || value.isBool() || value.isInt()) {
    into.push_back({name, number(value)});
  } else if (value.isList()) {
    const auto& elements = value.toListRef();
    for (std::size_t i = 0; i < elements.size(); ++i)
      add_results(name + "[" + std::to_string(i) + "]", elements[i], into);
  }
}

void require_comparable(const at::Tensor& tensor) {
  if (!tensor.defined())
    return;
  if (tensor.layout() != c10::kStrided || tensor.is_nested())
    throw NotExamined{"a result is sparse or of another layout"};
  if (tensor.is_quantized())
    throw NotExamined{"a result is quantized"};
  if (!tensor.is_cpu() && !tensor.is_cuda())
    throw NotExamined{"a result is on device " + tensor.device().str()};
}

} // namespace

void* current_stream(c10::Device device) {
  const c10::impl::VirtualGuardImpl guard(device.type());
  return guard.getStreamNativeHandle(guard.getStream(device));
}

void wait_for(c10::Device device) {
  if (device.is_cuda())
    c10::impl::VirtualGuardImpl(device.type()).getStream(device).synchronize();
}

std::vector<ResultTensor> results_of(c10::ArrayRef<c10::IValue> outputs,
                                     const std::vector<at::Tensor>& arguments, const SavedCall& call) {
  std::vector<ResultTensor> results;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    add_results("output " + std::to_string(i), outputs[i], results);
  for (const ResultTensor& result : results)
    require_comparable(result.tensor);
  const std::size_t returned = results.size();
  const auto& tensors = call.tensors();
  const auto& storages = const_cast<SavedCall&>(call).storages();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].storage < 0 || !storages[static_cast<std::size_t>(tensors[i].storage)].changed)
      continue;
    const bool is_result =
        std::any_of(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(returned),
                    [&](const ResultTensor& r) { return r.tensor.is_same(arguments[i]); });
    if (!is_result)
      results.push_back({"argument " + tensors[i].name, arguments[i]});
  }
  return results;
}

ResultComparison::ResultComparison(std::vector<ResultTensor> reference,
                                   const std::string& compare_cuda_library)
    : compare_cuda_library_(&compare_cuda_library) {
  for (ResultTensor& result : reference) {
    Output output;
    output.reference = std::move(result);
    const at::Tensor& tensor = output.reference.tensor;
    if (tensor.defined()) {
      output.dense = tensor.is_non_overlapping_and_dense() ? tensor : tensor.contiguous();
      std::tie(output.type, output.elements) = comparison_type(tensor);
    }
    outputs_.push_back(std::move(output));
  }
}

ResultComparison::Hash ResultComparison::compare(Output& output, const at::Tensor& result) {
  static constexpr Hash kSame = {0, 0};
  const at::Tensor& reference = output.reference.tensor;
  if (!reference.defined() && !result.defined())
    return kSame;
  if (reference.defined() != result.defined() || reference.sizes() != result.sizes() ||
      reference.scalar_type() != result.scalar_type() || reference.device() != result.device()) {
    output.shape_differs = true;
    if (!result.defined())
      return {1, 1};
    // No element to compare with: tell results apart by shape and by their bytes.
    Hash hash = {17, 17};
    for (const std::int64_t size : result.sizes())
      hash[0] = mix(hash[0], static_cast<std::uint64_t>(size));
    const at::Tensor host = result.contiguous().cpu();
    const auto [type, elements] = comparison_type(host);
    const auto bytes =
        compare::compare_cpu(host.const_data_ptr(), host.const_data_ptr(), elements, type, nullptr);
    return {mix(hash[0], bytes.hash[0]), mix(hash[1], bytes.hash[1])};
  }
  if (output.elements == 0)
    return kSame;
  at::Tensor left = output.dense, right = result;
  if (right.strides() != left.strides()) {
    if (!output.contiguous.defined())
      output.contiguous = reference.contiguous();
    left = output.contiguous;
    right = right.contiguous();
  } else if (!right.is_non_overlapping_and_dense()) {
    right = right.contiguous();
  }
  const std::size_t bytes = output.elements * compare::size_of(output.type);
  Comparison found;
  const bool on_device =
      left.is_cuda() && cuda(*compare_cuda_library_).equal && cuda(*compare_cuda_library_).compare;
  const auto make_mask = [&](c10::Device device) {
    if (output.mask.defined())
      return;
    output.mask = at::empty({static_cast<std::int64_t>(output.elements)},
                            at::TensorOptions().dtype(at::kByte).device(device));
    output.mask.zero_();
  };
  if (on_device) {
    const Cuda& device = cuda(*compare_cuda_library_);
    void* stream = current_stream(left.device());
    int equal = 0;
    int error = device.equal(left.const_data_ptr(), right.const_data_ptr(), bytes, stream, &equal);
    if (!error && equal)
      return kSame;
    make_mask(left.device());
    if (!error)
      error = device.compare(left.const_data_ptr(), right.const_data_ptr(), output.elements,
                             static_cast<int>(output.type),
                             static_cast<std::uint8_t*>(output.mask.data_ptr()), stream, &found);
    if (error)
      throw NotExamined{"comparing on the device failed (CUDA error " + std::to_string(error) + ")"};
  } else {
    const at::Tensor a = left.cpu(), b = right.cpu();
    if (std::memcmp(a.const_data_ptr(), b.const_data_ptr(), bytes) == 0)
      return kSame;
    make_mask(c10::kCPU);
    found = compare::compare_cpu(a.const_data_ptr(), b.const_data_ptr(), output.elements, output.type,
                                 static_cast<std::uint8_t*>(output.mask.data_ptr()));
  }
  output.worst.nan_mismatches = std::max(output.worst.nan_mismatches, found.nan_mismatches);
  output.worst.max_ulp = std::max(output.worst.max_ulp, found.max_ulp);
  output.worst.max_absolute = std::max(output.worst.max_absolute, found.max_absolute);
  output.worst.max_relative = std::max(output.worst.max_relative, found.max_relative);
  return {found.hash[0] | 1, found.hash[1]}; // never the mark of "the same as the reference"
}

bool ResultComparison::add(const std::vector<ResultTensor>& round) {
  Hash all = {0, 0};
  bool same = round.size() == outputs_.size();
  for (std::size_t i = 0; i < std::min(round.size(), outputs_.size()); ++i) {
    const Hash hash = compare(outputs_[i], round[i].tensor);
    outputs_[i].results.insert(hash);
    same = same && hash == Hash{0, 0};
    if (hash != Hash{0, 0})
      all = {mix(all[0] + i, hash[0]), mix(all[1] + i, hash[1])};
  }
  if (round.size() != outputs_.size())
    all = {mix(all[0], round.size()), 3};
  rounds_.insert(all);
  differing_ += !same;
  return same;
}

std::vector<OutputLine> ResultComparison::outputs() const {
  std::vector<OutputLine> lines;
  for (const Output& output : outputs_) {
    OutputLine line;
    line.name = output.reference.name;
    line.distinct = static_cast<std::uint32_t>(std::max<std::size_t>(1, output.results.size()));
    const at::Tensor& tensor = output.reference.tensor;
    if (tensor.defined()) {
      line.dtype = dtype_name(tensor.scalar_type());
      line.shape.assign(tensor.sizes().begin(), tensor.sizes().end());
    }
    if (output.shape_differs) {
      line.differing_share = 1;
    } else if (output.mask.defined() && output.elements > 0) {
      const at::Tensor mask = output.mask.cpu();
      line.differing_share = double(compare::count_marked(
                                 static_cast<const std::uint8_t*>(mask.const_data_ptr()), output.elements)) /
                             double(output.elements);
    }
    line.max_ulp = output.worst.max_ulp;
    line.max_absolute = output.worst.max_absolute;
    line.max_relative = output.worst.max_relative;
    line.nan_mismatches = output.worst.nan_mismatches;
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace reprobe::op
