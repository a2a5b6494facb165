#include "runtime/op/arguments.h"

#include <algorithm>
#include <cstring>

namespace reprobe::op {
namespace {

constexpr std::size_t kWholeStorage = std::size_t(8) << 20; // smaller storages are saved whole

/// Throws NotExamined for tensors that are more than strided memory on the CPU or a CUDA device.
void require_plain(const at::Tensor& tensor) {
  using c10::DispatchKey;
  const auto* implementation = tensor.unsafeGetTensorImpl();
  const auto keys = implementation->key_set();
  if (tensor.layout() != c10::kStrided)
    throw NotExamined{"an argument is sparse or of another layout"};
  if (tensor.is_nested())
    throw NotExamined{"an argument is a nested tensor"};
  if (tensor.is_quantized())
    throw NotExamined{"an argument is quantized"};
  if (tensor.is_meta())
    throw NotExamined{"an argument is a meta tensor, which has no data"};
  if (!tensor.is_cpu() && !tensor.is_cuda())
    throw NotExamined{"an argument is on device " + tensor.device().str()};
  if (keys.has(DispatchKey::Python) || keys.has(DispatchKey::PythonTLSSnapshot))
    throw NotExamined{"an argument is a tensor subclass of Python"};
  if (keys.has(DispatchKey::FuncTorchBatched) || keys.has(DispatchKey::FuncTorchGradWrapper) ||
      keys.has(DispatchKey::Functionalize))
    throw NotExamined{"an argument is wrapped by a function transform"};
  if (keys.has(DispatchKey::ZeroTensor))
    throw NotExamined{"an argument is a zero tensor without memory"};
  if (implementation->has_symbolic_sizes_strides())
    throw NotExamined{"an argument has a symbolic shape"};
  if (!tensor.has_storage())
    throw NotExamined{"an argument has no storage"};
}

/// Bytes of its storage that a tensor can reach, [first, second).
std::pair<std::size_t, std::size_t> reach(const SavedTensor& tensor) {
  std::int64_t last = tensor.offset;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] == 0)
      return {0, 0};
    last += (tensor.sizes[i] - 1) * tensor.strides[i];
  }
  const std::size_t item = tensor.dtype.itemsize();
  return {static_cast<std::size_t>(tensor.offset) * item, (static_cast<std::size_t>(last) + 1) * item};
}

at::Tensor allocate(std::size_t size, c10::Device device) {
  return at::empty({static_cast<std::int64_t>(size)}, at::TensorOptions().dtype(at::kByte).device(device));
}

void copy_bytes(const at::Tensor& from, const at::Tensor& to) {
  if (to.numel() == 0)
    return;
  if (to.is_cpu())
    std::memcpy(to.data_ptr(), from.const_data_ptr(), static_cast<std::size_t>(to.numel()));
  else
    to.copy_(from);
}

} // namespace

at::Tensor bytes_of(const c10::Storage& storage, std::size_t begin, std::size_t size) {
  const auto key =
      storage.device_type() == c10::DeviceType::CUDA ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU;
  auto tensor = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage), c10::DispatchKeySet(key),
                                                         caffe2::TypeMeta::Make<std::uint8_t>());
  auto* implementation = tensor.unsafeGetTensorImpl();
  implementation->set_storage_offset(static_cast<std::int64_t>(begin));
  implementation->set_sizes_contiguous({static_cast<std::int64_t>(size)});
  return tensor;
}

void SavedStorage::restore() {
  copy_bytes(saved, working_bytes);
}

bool SavedStorage::differs_from_saved(const at::Tensor& bytes) const {
  if (size == 0)
    return false;
  if (bytes.is_cpu())
    return std::memcmp(bytes.const_data_ptr(), saved.const_data_ptr(), size) != 0;
  return !bytes.equal(saved);
}

SavedCall::SavedCall(const Operator& op, c10::ArrayRef<const c10::IValue> inputs, std::uint64_t memory_limit)
    : op_(op) {
  const auto& schema = op.handle.schema().arguments();
  if (inputs.size() != schema.size())
    throw NotExamined{"its arguments do not fit its schema"};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const c10::IValue& value = inputs[i];
    const std::string& name = schema[i].name();
    SavedArgument argument;
    argument.first = tensors_.size();
    if (value.isTensor()) {
      argument.kind = SavedArgument::Kind::tensor;
      add_tensor(name, value.toTensor());
    } else if (value.isGenerator()) {
      argument.kind = SavedArgument::Kind::generator;
      at::Generator generator = value.toGenerator();
      std::lock_guard lock(generator.mutex());
      argument.generator = generator.clone();
    } else if (value.isList() && !value.isIntList() && !value.isDoubleList() && !value.isBoolList()) {
      const auto& elements = value.toListRef();
      const bool any_tensor =
          std::any_of(elements.begin(), elements.end(), [](const auto& e) { return e.isTensor(); });
      if (any_tensor || value.isTensorList() || value.isOptionalTensorList()) {
        argument.kind = value.isTensorList() ? SavedArgument::Kind::tensor_list
                                             : SavedArgument::Kind::optional_tensor_list;
        for (std::size_t k = 0; k < elements.size(); ++k) {
          if (!elements[k].isTensor() && !elements[k].isNone())
            throw NotExamined{"a list of unlike arguments"};
          argument.absent.push_back(elements[k].isNone());
          if (elements[k].isTensor())
            add_tensor(name + "[" + std::to_string(k) + "]", elements[k].toTensor());
        }
      } else {
        argument.value = value;
      }
    } else if (value.isObject() || value.isCapsule() || value.isPyObject() || value.isFuture() ||
               value.isStream() || value.isStorage() || value.isBlob() || value.isRRef() || value.isAwait() ||
               value.isGenericDict() || value.isTuple()) {
      throw NotExamined{"argument " + name + " is an object (" + value.tagKind() +
                        "), whose state cannot be saved"};
    } else {
      argument.value = value;
    }
    argument.count = tensors_.size() - argument.first;
    arguments_.push_back(std::move(argument));
  }
  choose_ranges();
  // Saved and working copies.
  if (2 * bytes_ > memory_limit)
    throw NotExamined{"its arguments (" + std::to_string(bytes_ >> 20) +
                      " MiB, held twice) are over the memory budget"};
  for (SavedStorage& storage : storages_) {
    storage.saved = allocate(storage.size, storage.device);
    copy_bytes(bytes_of(storage.original, storage.begin, storage.size), storage.saved);
  }
}

SavedCall::SavedCall(const Operator& op, std::vector<SavedStorage> storages, std::vector<SavedTensor> tensors,
                     std::vector<SavedArgument> arguments)
    : op_(op), storages_(std::move(storages)), tensors_(std::move(tensors)), arguments_(std::move(arguments)) {
  for (const SavedStorage& storage : storages_) {
    bytes_ += storage.size;
    if (storage.device.is_cuda() && device_.is_cpu())
      device_ = storage.device;
  }
}

void SavedCall::add_tensor(const std::string& name, const at::Tensor& tensor) {
  SavedTensor saved;
  saved.name = name;
  saved.original = tensor;
  saved.same_as = tensors_.size();
  if (tensor.defined()) {
    for (std::size_t i = 0; i < tensors_.size() && saved.same_as == tensors_.size(); ++i)
      if (tensors_[i].original.is_same(tensor))
        saved.same_as = i;
    require_plain(tensor);
    const auto* implementation = tensor.unsafeGetTensorImpl();
    saved.keys = implementation->key_set();
    saved.dtype = implementation->dtype();
    saved.sizes.assign(tensor.sizes().begin(), tensor.sizes().end());
    saved.strides.assign(tensor.strides().begin(), tensor.strides().end());
    saved.offset = tensor.storage_offset();
    saved.requires_grad = tensor.requires_grad();
    saved.wrapped_number = implementation->is_wrapped_number();
    const c10::Storage& storage = tensor.storage();
    const auto known = std::find_if(storages_.begin(), storages_.end(), [&](const SavedStorage& other) {
      return other.original.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl();
    });
    saved.storage = static_cast<int>(known - storages_.begin());
    if (known == storages_.end()) {
      SavedStorage fresh;
      fresh.original = storage;
      fresh.device = tensor.device();
      fresh.whole = storage.nbytes();
      storages_.push_back(std::move(fresh));
    }
    if (tensor.is_cuda() && device_.is_cpu())
      device_ = tensor.device();
  }
  tensors_.push_back(std::move(saved));
}

void SavedCall::choose_ranges() {
  for (std::size_t i = 0; i < storages_.size(); ++i) {
    SavedStorage& storage = storages_[i];
    std::size_t begin = storage.whole, end = 0;
    for (const SavedTensor& tensor : tensors_) {
      if (tensor.storage != static_cast<int>(i))
        continue;
      const auto [first, last] = reach(tensor);
      if (first == last)
        continue;
      begin = std::min(begin, first);
      end = std::max(end, last);
    }
    if (end > storage.whole)
      throw NotExamined{"an argument reaches beyond its storage"};
    if (end == 0)
      begin = 0;
    // A row of a data set: only what the call can reach. The start keeps every element type aligned.
    begin = begin / kAlignment * kAlignment;
    const bool whole = storage.whole <= kWholeStorage || 2 * (end - begin) >= storage.whole;
    storage.begin = whole ? 0 : begin;
    storage.size = whole ? storage.whole : end - begin;
    if (storage.size > 0 && storage.original.data() == nullptr)
      throw NotExamined{"an argument has no memory"};
    storage.alignment =
        (reinterpret_cast<std::uintptr_t>(storage.original.data()) + storage.begin) % kAlignment;
    bytes_ += storage.size;
  }
}

void SavedCall::prepare() {
  for (SavedStorage& storage : storages_) {
    // The same place within an alignment unit as in the program: vectorised kernels split their work by it.
    const at::Tensor memory = allocate(storage.size + kAlignment, storage.device);
    auto* start = static_cast<char*>(memory.data_ptr());
    const auto is = reinterpret_cast<std::uintptr_t>(start) % kAlignment;
    start += (storage.alignment + kAlignment - is) % kAlignment;
    auto* owner = new at::Tensor(memory);
    storage.working =
        c10::Storage(c10::Storage::use_byte_size_t(), storage.size,
                     c10::DataPtr(
                         start, owner, [](void* p) { delete static_cast<at::Tensor*>(p); }, storage.device),
                     storage.device.is_cpu() ? c10::GetCPUAllocator() : memory.storage().allocator(),
                     /*resizable=*/true);
    storage.working_bytes = bytes_of(storage.working, 0, storage.size);
    storage.restore();
  }
}

at::Tensor SavedCall::rebuild(const SavedTensor& saved) const {
  if (saved.storage < 0)
    return {};
  const SavedStorage& storage = storages_[static_cast<std::size_t>(saved.storage)];
  auto tensor =
      at::detail::make_tensor<c10::TensorImpl>(c10::Storage(storage.working), saved.keys, saved.dtype);
  auto* implementation = tensor.unsafeGetTensorImpl();
  const auto skipped = static_cast<std::int64_t>(storage.begin / saved.dtype.itemsize());
  const bool empty = std::find(saved.sizes.begin(), saved.sizes.end(), 0) != saved.sizes.end();
  implementation->set_sizes_and_strides(saved.sizes, saved.strides,
                                        empty ? std::max<std::int64_t>(0, saved.offset - skipped)
                                              : saved.offset - skipped);
  if (saved.wrapped_number)
    implementation->set_wrapped_number(true);
  if (saved.requires_grad)
    implementation->set_requires_grad(true);
  return tensor;
}

std::vector<c10::IValue> SavedCall::build(std::vector<at::Tensor>& kept) const {
  kept.clear();
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    kept.push_back(tensors_[i].same_as < i ? kept[tensors_[i].same_as] : rebuild(tensors_[i]));
  std::vector<c10::IValue> stack;
  for (const SavedArgument& argument : arguments_) {
    switch (argument.kind) {
    case SavedArgument::Kind::plain:
      stack.push_back(argument.value);
      break;
    case SavedArgument::Kind::tensor:
      stack.emplace_back(kept[argument.first]);
      break;
    case SavedArgument::Kind::generator:
      stack.emplace_back(argument.generator.clone());
      break;
    case SavedArgument::Kind::tensor_list: {
      c10::List<at::Tensor> list;
      for (std::size_t k = 0; k < argument.count; ++k)
        list.push_back(kept[argument.first + k]);
      stack.emplace_back(std::move(list));
      break;
    }
    case SavedArgument::Kind::optional_tensor_list: {
      c10::List<std::optional<at::Tensor>> list;
      std::size_t next = argument.first;
      for (const bool absent : argument.absent)
        list.push_back(absent ? std::nullopt : std::optional<at::Tensor>(kept[next++]));
      stack.emplace_back(std::move(list));
      break;
    }
    }
  }
  return stack;
}

} // namespace reprobe::op
