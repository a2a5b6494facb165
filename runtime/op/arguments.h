// The arguments of one call, saved before it so that it can be made again.
//
// Storages are copied, not tensors: views that share memory go on sharing it, with their offsets, strides and
// alignment. Whatever the schema says of mutation, every argument is saved.
#pragma once

#include "runtime/op/observer.h"

namespace reprobe::op {

/// `size` bytes starting at `begin` of a storage, as a tensor of bytes that shares its memory.
at::Tensor bytes_of(const c10::Storage& storage, std::size_t begin, std::size_t size);

inline constexpr std::size_t kAlignment = 64; // that kernels may care about

struct SavedStorage {
  c10::Storage original;
  c10::Device device = c10::kCPU;
  std::size_t whole = 0, begin = 0, size = 0; // bytes: the storage's own size; the part that is saved
  std::size_t alignment = 0;                  // of byte `begin` in the program's memory, modulo kAlignment
  at::Tensor saved;                           // [size] bytes
  c10::Storage working;                       // what re-executions read and write; starts at byte `begin`
  at::Tensor working_bytes;                   // [size] bytes of it
  bool changed = false;                       // by the program's call, or by a re-execution

  void restore();
  bool differs_from_saved(const at::Tensor& bytes) const;
};

struct SavedTensor {
  std::string name; // the schema's
  at::Tensor original;
  std::size_t same_as = 0; // the first of tensors() that is this very tensor; itself when none is
  int storage = -1; // none: undefined
  c10::DispatchKeySet keys;
  caffe2::TypeMeta dtype;
  c10::SmallVector<std::int64_t, 5> sizes, strides;
  std::int64_t offset = 0; // elements, in the original storage
  bool requires_grad = false, wrapped_number = false;
};

struct SavedArgument {
  enum class Kind { plain, tensor, tensor_list, optional_tensor_list, generator };
  Kind kind = Kind::plain;
  c10::IValue value;     // plain
  std::size_t first = 0; // its tensors: [first, first + count) of SavedCall::tensors
  std::size_t count = 0;
  std::vector<bool> absent; // of an optional list
  at::Generator generator;  // its state before the call
};

/// Why a call cannot be made again.
struct NotExamined {
  std::string reason;
};

class SavedCall {
public:
  /// Throws NotExamined. `inputs` are valid only now.
  SavedCall(const Operator&, c10::ArrayRef<const c10::IValue> inputs, std::uint64_t memory_limit);

  /// As loaded from a case: storages with `whole`, `begin`, `size`, `alignment` and `saved`, and no originals.
  SavedCall(const Operator&, std::vector<SavedStorage>, std::vector<SavedTensor>, std::vector<SavedArgument>);

  /// Arguments for one re-execution, on the working storages as they are. `kept` gets a reference to each
  /// tensor: boxed calls of out= overloads give back tensors that nobody else may own. Tensors stand as in
  /// tensors().
  std::vector<c10::IValue> build(std::vector<at::Tensor>& kept) const;
  /// Makes the working storages, once, on the current streams.
  void prepare();

  std::vector<SavedStorage>& storages() { return storages_; }
  const std::vector<SavedStorage>& storages() const { return storages_; }
  const std::vector<SavedTensor>& tensors() const { return tensors_; }
  const std::vector<SavedArgument>& arguments() const { return arguments_; }
  const Operator& op() const { return op_; }
  std::uint64_t bytes() const { return bytes_; }
  c10::Device device() const { return device_; }

private:
  void add_tensor(const std::string& name, const at::Tensor&);
  void choose_ranges();
  at::Tensor rebuild(const SavedTensor&) const;

  const Operator& op_;
  std::vector<SavedStorage> storages_;
  std::vector<SavedTensor> tensors_;
  std::vector<SavedArgument> arguments_;
  std::uint64_t bytes_ = 0;
  c10::Device device_ = c10::kCPU; // of the first CUDA tensor, if any
};

} // namespace reprobe::op
