#include "runtime/op/results.h"

#include <algorithm>
#include <dlfcn.h>
#include <iterator>
#include <numeric>

namespace reprobe::op {
namespace {

using compare::Comparison;
using compare::Type;

struct Cuda {
  compare::CompareCuda compare = nullptr;
  compare::HashCuda hash = nullptr;
  explicit operator bool() const { return compare && hash; }
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
    functions->hash = reinterpret_cast<compare::HashCuda>(::dlsym(handle, compare::kHashCudaSymbol));
    return functions;
  }();
  return *loaded;
}

Type comparison_type(c10::ScalarType type) {
  switch (type) {
  case c10::kDouble:
    return Type::float64;
  case c10::kFloat:
    return Type::float32;
  case c10::kHalf:
    return Type::float16;
  case c10::kBFloat16:
    return Type::bfloat16;
  case c10::kFloat8_e4m3fn:
    return Type::float8_e4m3fn;
  case c10::kFloat8_e5m2:
    return Type::float8_e5m2;
  case c10::kFloat8_e4m3fnuz:
    return Type::float8_e4m3fnuz;
  case c10::kFloat8_e5m2fnuz:
    return Type::float8_e5m2fnuz;
  case c10::kComplexDouble:
    return Type::complex128;
  case c10::kComplexFloat:
    return Type::complex64;
  case c10::kComplexHalf:
    return Type::complex32;
  case c10::kLong:
    return Type::int64;
  case c10::kInt:
    return Type::int32;
  case c10::kShort:
    return Type::int16;
  case c10::kChar:
    return Type::int8;
  default: // bool, and bits that have no number here
    switch (c10::elementSize(type)) {
    case 8:
      return Type::uint64;
    case 4:
      return Type::uint32;
    case 2:
      return Type::uint16;
    default:
      return Type::uint8;
    }
  }
}

std::uint64_t bytes_of(const at::Tensor& tensor) {
  return static_cast<std::uint64_t>(tensor.numel()) * tensor.element_size();
}

at::Tensor bytes_on(c10::Device device, std::uint64_t bytes) {
  return at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions().dtype(at::kByte).device(device));
}

void require_success(int cuda_error) {
  if (cuda_error)
    throw NotExamined{"comparing on the device failed (CUDA error " + std::to_string(cuda_error) + ")"};
}

/// Coordinates of the element that is `position` steps into memory; `strides` of a dense tensor.
std::vector<std::int64_t> coordinates(std::uint64_t position, c10::IntArrayRef sizes,
                                      c10::IntArrayRef strides) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  // Dimensions of one element say nothing, and their strides may be anything.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return (sizes[a] > 1 ? strides[a] : 0) > (sizes[b] > 1 ? strides[b] : 0);
  });
  std::vector<std::int64_t> place(sizes.size());
  auto left = static_cast<std::int64_t>(position);
  for (const std::size_t dimension : order)
    if (sizes[dimension] > 1) {
      place[dimension] = left / strides[dimension];
      left %= strides[dimension];
    }
  return place;
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
      output.type = comparison_type(tensor.scalar_type());
      // Elements that are wider than any known type are compared byte by byte.
      output.elements = bytes_of(tensor) / compare::size_of(output.type);
    }
    outputs_.push_back(std::move(output));
  }
}

ResultComparison::Hash ResultComparison::compare(Output& output, const at::Tensor& result) {
  static constexpr Hash kSame = {0, 0};
  const at::Tensor& reference = output.reference.tensor;
  if (!reference.defined() && !result.defined())
    return kSame;
  const auto device_code = [&](const at::Tensor& tensor) -> const Cuda* {
    return tensor.is_cuda() && cuda(*compare_cuda_library_) ? &cuda(*compare_cuda_library_) : nullptr;
  };
  if (reference.defined() != result.defined() || reference.sizes() != result.sizes() ||
      reference.scalar_type() != result.scalar_type() || reference.device() != result.device()) {
    output.shape_differs = true;
    if (!result.defined())
      return {1, 1};
    // No element to compare with: tell results apart by shape and by their bytes.
    Hash shape = {17, 17};
    for (const std::int64_t size : result.sizes())
      shape.first = mix(shape.first, static_cast<std::uint64_t>(size));
    const at::Tensor whole = result.contiguous();
    const std::uint64_t bytes = bytes_of(whole);
    compare::Hash hash;
    if (const Cuda* device = device_code(whole))
      require_success(device->hash(whole.const_data_ptr(), bytes,
                                   bytes_on(whole.device(), compare::workspace_bytes(bytes)).data_ptr(),
                                   current_stream(whole.device()), &hash));
    else
      hash = compare::hash_cpu(whole.cpu().const_data_ptr(), bytes);
    return {mix(shape.first, hash.low), mix(shape.second, hash.high)};
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
  const Cuda* device = device_code(left);
  if (!output.mask.defined()) {
    output.mask = bytes_on(device ? left.device() : c10::kCPU, 4 * compare::mask_words(output.elements));
    output.mask.zero_();
  }
  auto* const mask = static_cast<std::uint32_t*>(output.mask.data_ptr());
  Comparison found;
  if (device) {
    if (!output.workspace.defined())
      output.workspace = bytes_on(left.device(), compare::workspace_bytes(bytes_of(left)));
    require_success(device->compare(left.const_data_ptr(), right.const_data_ptr(), output.elements,
                                    static_cast<int>(output.type), mask, output.workspace.data_ptr(),
                                    current_stream(left.device()), &found));
  } else {
    found = compare::compare_cpu(left.cpu().const_data_ptr(), right.cpu().const_data_ptr(), output.elements,
                                 output.type, mask);
  }
  if (found.differing == 0)
    return kSame;
  gather(output, found, left.is_same(output.dense));
  return {found.hash.low | 1, found.hash.high}; // never the mark of "the same as the reference"
}

void ResultComparison::gather(Output& output, const Comparison& round, bool in_memory_order) {
  Comparison& found = output.found;
  // Several orders are met when results of unlike strides are compared; the first to differ is kept.
  if (found.differing == 0)
    output.in_memory_order = in_memory_order;
  if (found.differing == 0 || (in_memory_order == output.in_memory_order &&
                               round.first_differing < found.first_differing))
    found.first_differing = round.first_differing;
  found.differing += round.differing;
  found.nan_mismatches = std::max(found.nan_mismatches, round.nan_mismatches);
  found.infinity_mismatches = std::max(found.infinity_mismatches, round.infinity_mismatches);
  for (int bin = 0; bin < compare::kUlpBins; ++bin)
    found.ulp_histogram[bin] += round.ulp_histogram[bin];
  found.max_ulp = std::max(found.max_ulp, round.max_ulp);
  found.max_absolute = std::max(found.max_absolute, round.max_absolute);
  found.max_relative = std::max(found.max_relative, round.max_relative);
  found.sum_absolute += round.sum_absolute;
  found.sum_variation += round.sum_variation;
  output.same_values = output.same_values && round.values == 0;
}

bool ResultComparison::add(const std::vector<ResultTensor>& round) {
  Hash all = {0, 0};
  bool same = round.size() == outputs_.size();
  for (std::size_t i = 0; i < std::min(round.size(), outputs_.size()); ++i) {
    const Hash hash = compare(outputs_[i], round[i].tensor);
    outputs_[i].results.insert(hash);
    same = same && hash == Hash{0, 0};
    if (hash != Hash{0, 0})
      all = {mix(all.first + i, hash.first), mix(all.second + i, hash.second)};
  }
  if (round.size() != outputs_.size())
    all = {mix(all.first, round.size()), 3};
  rounds_.insert(all);
  ++rounds_compared_;
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
    const Comparison& found = output.found;
    const double compared = double(output.elements) * rounds_compared_;
    if (output.shape_differs) {
      line.differing_share = 1;
    } else if (found.differing > 0) {
      const at::Tensor mask = output.mask.cpu();
      line.differing_share =
          double(compare::count_marked(static_cast<const std::uint32_t*>(mask.const_data_ptr()),
                                       compare::mask_words(output.elements))) /
          double(output.elements);
    }
    if (found.differing > 0) {
      line.v_c = double(found.differing) / compared;
      const double components = compared * double(compare::components_of(output.type));
      line.mean_absolute = found.sum_absolute / components;
      line.v_ermv = found.sum_variation / components;
      line.max_ulp = found.max_ulp;
      line.max_absolute = found.max_absolute;
      line.max_relative = found.max_relative;
      line.nan_mismatches = found.nan_mismatches;
      line.infinity_mismatches = found.infinity_mismatches;
      const auto* end = std::find_if(std::rbegin(found.ulp_histogram), std::rend(found.ulp_histogram),
                                     [](std::uint64_t count) { return count > 0; })
                            .base();
      line.ulp_histogram.assign(std::begin(found.ulp_histogram), end);
      const at::Tensor& order = output.in_memory_order ? output.dense : output.contiguous;
      line.first_differing = coordinates(found.first_differing, order.sizes(), order.strides());
      if (compare::is_index(output.type) && !output.shape_differs)
        line.same_values = output.same_values;
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace reprobe::op
