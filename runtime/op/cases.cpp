#include "runtime/op/cases.h"

#include "runtime/op/file_size_signal.h"
#include "runtime/op/flags.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <limits>
#include <set>
#include <sys/stat.h>
#include <torch/version.h>
#include <unistd.h>

namespace reprobe::op {
namespace {

using nlohmann::json;

constexpr std::size_t kMostDimensions = 64;
constexpr std::uint64_t kAllCases = std::uint64_t(4) << 30; // bytes that one process saves, at most

// Saving.

json encode_double(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf"; // the bits of a NaN are one of the few losses
}

json encode_value(const c10::IValue& value) {
  if (value.isNone())
    return {{"none", true}};
  if (value.isBool())
    return {{"bool", value.toBool()}};
  if (value.isInt())
    return {{"int", value.toInt()}};
  if (value.isDouble())
    return {{"double", encode_double(value.toDouble())}};
  if (value.isComplexDouble())
    return {{"complex",
             {encode_double(value.toComplexDouble().real()), encode_double(value.toComplexDouble().imag())}}};
  if (value.isString())
    return {{"string", value.toStringRef()}};
  if (value.isDevice())
    return {{"device", value.toDevice().str()}};
  if (value.isIntList())
    return {{"ints", value.toIntVector()}};
  if (value.isBoolList()) {
    const auto list = value.toBoolList();
    json bools = json::array();
    for (std::size_t i = 0; i < list.size(); ++i)
      bools.push_back(static_cast<bool>(list.get(i)));
    return {{"bools", std::move(bools)}};
  }
  if (value.isDoubleList()) {
    json doubles = json::array();
    for (const double number : value.toDoubleVector())
      doubles.push_back(encode_double(number));
    return {{"doubles", std::move(doubles)}};
  }
  if (value.isList()) {
    json elements = json::array();
    for (const c10::IValue& element : value.toListRef())
      elements.push_back(encode_value(element));
    return {{"list", std::move(elements)}};
  }
  throw FileProblem{std::string("a case cannot hold an argument of type ") + value.tagKind()};
}

/// Stretches in the order of their place, and what goes there.
struct Contents {
  DataLayout layout;
  std::vector<at::Tensor> bytes; // on any device

  json place(const at::Tensor& tensor) {
    bytes.push_back(tensor);
    return layout.place(tensor.nbytes());
  }
};

json encode_generator(at::Generator generator, Contents& contents) {
  const at::Tensor state = generator.get_state();
  return {{"device", generator.device().str()}, {"state", contents.place(state)}};
}

json encode_arguments(const SavedCall& call, Contents& contents) {
  json arguments = json::array();
  for (const SavedArgument& argument : call.arguments()) {
    switch (argument.kind) {
    case SavedArgument::Kind::plain:
      arguments.push_back(encode_value(argument.value));
      break;
    case SavedArgument::Kind::tensor:
      arguments.push_back({{"tensor", argument.first}});
      break;
    case SavedArgument::Kind::generator:
      arguments.push_back({{"generator", encode_generator(argument.generator, contents)}});
      break;
    case SavedArgument::Kind::tensor_list: {
      json list = json::array();
      for (std::size_t k = 0; k < argument.count; ++k)
        list.push_back(argument.first + k);
      arguments.push_back({{"tensors", std::move(list)}});
      break;
    }
    case SavedArgument::Kind::optional_tensor_list: {
      json list = json::array();
      std::size_t next = argument.first;
      for (const bool absent : argument.absent)
        list.push_back(absent ? json() : json(next++));
      arguments.push_back({{"optional_tensors", std::move(list)}});
      break;
    }
    }
  }
  return arguments;
}

json encode_tensors(const SavedCall& call) {
  json tensors = json::array();
  for (const SavedTensor& tensor : call.tensors()) {
    if (tensor.storage < 0) {
      tensors.push_back({{"name", tensor.name}, {"storage", nullptr}});
      continue;
    }
    tensors.push_back({{"name", tensor.name},
                       {"storage", tensor.storage},
                       {"dtype", dtype_name(c10::typeMetaToScalarType(tensor.dtype))},
                       {"sizes", std::vector<std::int64_t>(tensor.sizes.begin(), tensor.sizes.end())},
                       {"strides", std::vector<std::int64_t>(tensor.strides.begin(), tensor.strides.end())},
                       {"offset", tensor.offset},
                       {"requires_grad", tensor.requires_grad},
                       {"wrapped_number", tensor.wrapped_number},
                       {"conjugate", tensor.keys.has(c10::DispatchKey::Conjugate)},
                       {"negative", tensor.keys.has(c10::DispatchKey::Negative)},
                       {"same_as", tensor.same_as}});
  }
  return tensors;
}

json encode_storages(const SavedCall& call, Contents& contents) {
  json storages = json::array();
  for (const SavedStorage& storage : call.storages())
    storages.push_back({{"device", storage.device.str()},
                        {"bytes", storage.whole},
                        {"begin", storage.begin},
                        {"alignment", storage.alignment},
                        {"changed", storage.changed},
                        {"data", contents.place(storage.saved)}});
  return storages;
}

json encode_generators(const std::vector<GeneratorState>& all, const std::vector<GeneratorState>& drawn,
                       Contents& contents) {
  json generators = json::array();
  for (const GeneratorState& state : all) {
    const bool is_drawn = std::any_of(drawn.begin(), drawn.end(), [&](const GeneratorState& other) {
      return other.generator.device() == state.generator.device();
    });
    generators.push_back({{"device", state.generator.device().str()},
                          {"state", contents.place(state.before)},
                          {"drawn", is_drawn}});
  }
  return generators;
}

/// Of this process: the executable, and the arguments that it was started with.
json encode_program(const Operator& op) {
  json program = {{"registers_operator", !op.framework}};
  char executable[4096];
  const ssize_t length = ::readlink("/proc/self/exe", executable, sizeof executable);
  program["executable"] = std::string(executable, length > 0 ? static_cast<std::size_t>(length) : 0);
  json arguments = json::array();
  std::ifstream command("/proc/self/cmdline", std::ios::binary);
  for (std::string argument; std::getline(command, argument, '\0') && arguments.size() < 1000;)
    arguments.push_back(argument);
  program["arguments"] = std::move(arguments);
  return program;
}

std::string case_name(const Signature& signature) {
  std::string name = signature.op->name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_' && c != '.'; }, '-');
  char host[256] = "host";
  ::gethostname(host, sizeof host - 1);
  return name.substr(0, 100) + "." + std::string(host).substr(0, 40) + "." + std::to_string(::getpid()) + "." +
         std::to_string(signature.id) + ".case";
}

/// One case a signature: the first that was examined, or the first that varied.
bool worth_saving(std::uint32_t signature, bool varies) {
  static std::mutex mutex;
  static auto* saved = new std::unordered_map<std::uint32_t, bool>;
  std::lock_guard lock(mutex);
  const auto [known, fresh] = saved->try_emplace(signature, varies);
  const bool better = varies && !known->second;
  known->second = known->second || varies;
  return fresh || better;
}

void write_case(const CallContext& context, const std::vector<GeneratorState>& drawn,
                const std::vector<ResultTensor>& program_results) {
  const SavedCall& call = *context.saved;
  const Signature& signature = *context.signature;
  const c10::Device device = working_device(call, program_results);
  if (call.bytes() > registry().options.case_bytes)
    throw FileProblem{"its arguments (" + std::to_string(call.bytes() >> 20) +
                      " MiB) are over the size limit of a case (--case-limit)"};
  static std::uint64_t all = 0;
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (all + call.bytes() > kAllCases)
    throw FileProblem{"the cases of this process are over 4 GiB already"};
  json path = json::array();
  for (const Signature* caller = signature.parent; caller; caller = caller->parent)
    path.insert(path.begin(), caller->op->name);
  Contents contents;
  const json header = {
      {"schema", kCaseSchema},
      {"operator", context.op->name},
      {"overload", context.op->overload},
      {"schema_text", c10::toString(context.op->handle.schema())},
      {"signature", signature.text},
      {"direction", signature.direction},
      {"backward_node", signature.backward_node},
      {"path", std::move(path)},
      {"device", device.str()},
      {"arguments", encode_arguments(call, contents)},
      {"tensors", encode_tensors(call)},
      {"storages", encode_storages(call, contents)},
      {"generators", encode_generators(context.generators, drawn, contents)},
      {"flags", flags::of_call()},
      {"already_cast", signature.autocast == "none" && context.thread->autocast_outside},
      {"result_hash", hash_of(program_results)},
      {"machine", {{"libtorch", TORCH_VERSION}, {"device_name", device_name(device)}}},
      {"program", encode_program(*context.op)}};
  const std::string name = case_name(signature);
  CaseWriter writer(registry().options.case_directory + "/" + name, header, contents.layout);
  for (const at::Tensor& bytes : contents.bytes) {
    const at::Tensor here = bytes.cpu();
    writer.append(here.const_data_ptr(), here.nbytes());
  }
  writer.finish();
  all += call.bytes();
  journal::saved_case(signature, name);
}

// Loading. Every wrong type in the header throws json::exception, which the caller turns into a reason.

void require(bool condition, const char* reason) {
  if (!condition)
    throw FileProblem{std::string("its header makes no sense: ") + reason};
}

double decode_double(const json& value) {
  if (value.is_string()) {
    const std::string text = value;
    require(text == "nan" || text == "inf" || text == "-inf", "a number is none");
    return text == "nan"   ? std::numeric_limits<double>::quiet_NaN()
           : text == "inf" ? std::numeric_limits<double>::infinity()
                           : -std::numeric_limits<double>::infinity();
  }
  require(value.is_number(), "a number is none");
  return value.get<double>();
}

std::int64_t decode_int(const json& value) {
  require(value.is_number_integer() &&
              (!value.is_number_unsigned() ||
               value.get<std::uint64_t>() <= std::uint64_t(std::numeric_limits<std::int64_t>::max())),
          "a whole number is none");
  return value.get<std::int64_t>();
}

std::uint64_t decode_size(const json& value) {
  require(value.is_number_unsigned(), "a size or index is no whole number from 0");
  return value.get<std::uint64_t>();
}

/// A device of this machine. Where the program had more GPUs, the first stands for the one that is not here.
c10::Device decode_device(const json& value) {
  const std::string name = value;
  c10::Device device = c10::kCPU;
  try {
    device = c10::Device(name);
  } catch (const c10::Error&) {
    throw FileProblem{"its header names no device: " + name};
  }
  if (device.is_cpu())
    return device;
  require(device.is_cuda(), "a device is neither the CPU nor a CUDA device");
  const int count = c10::impl::hasDeviceGuardImpl(c10::kCUDA)
                        ? c10::impl::VirtualGuardImpl(c10::kCUDA).deviceCount()
                        : 0;
  if (count == 0)
    throw NotExamined{"device " + name + " is not on this machine (no CUDA device that LibTorch can use)"};
  return device.has_index() && device.index() < count ? device : c10::Device(c10::kCUDA, 0);
}

c10::IValue decode_value(const json& encoded, const c10::TypePtr& type);

c10::IValue decode_list(const json& elements, const c10::Type& type) {
  require(type.kind() == c10::TypeKind::ListType, "an argument is a list, and its operator takes none");
  const c10::TypePtr element = type.castRaw<c10::ListType>()->getElementType();
  c10::impl::GenericList list(element);
  for (const json& value : elements)
    list.push_back(decode_value(value, element));
  return list;
}

template <class Value, class Decode>
c10::List<Value> decode_all(const json& elements, Decode&& decode) {
  require(elements.is_array(), "a list is none");
  c10::List<Value> list;
  for (const json& element : elements)
    list.push_back(decode(element));
  return list;
}

c10::IValue decode_value(const json& encoded, const c10::TypePtr& declared) {
  require(encoded.is_object() && encoded.size() == 1, "an argument has not one kind");
  const auto only = encoded.begin();
  const std::string kind = only.key();
  const json& value = *only;
  const c10::Type* type = declared.get();
  if (type->kind() == c10::TypeKind::OptionalType) {
    if (kind == "none")
      return {};
    type = type->castRaw<c10::OptionalType>()->getElementType().get();
  }
  using Kind = c10::TypeKind;
  const auto is = [&](std::initializer_list<Kind> kinds) {
    return std::find(kinds.begin(), kinds.end(), type->kind()) != kinds.end();
  };
  const auto is_list_of = [&](std::initializer_list<Kind> kinds) {
    return type->kind() == Kind::ListType &&
           std::find(kinds.begin(), kinds.end(), type->castRaw<c10::ListType>()->getElementType()->kind()) !=
               kinds.end();
  };
  if (kind == "bool" && is({Kind::BoolType, Kind::NumberType, Kind::SymBoolType}))
    return value.get<bool>();
  if (kind == "int" && is({Kind::IntType, Kind::SymIntType, Kind::NumberType, Kind::ScalarTypeType,
                           Kind::LayoutType, Kind::MemoryFormatType}))
    return decode_int(value);
  if (kind == "double" && is({Kind::FloatType, Kind::SymFloatType, Kind::NumberType}))
    return decode_double(value);
  if (kind == "complex" && is({Kind::NumberType, Kind::ComplexType}))
    return c10::complex<double>(decode_double(value.at(0)), decode_double(value.at(1)));
  if (kind == "string" && is({Kind::StringType}))
    return value.get<std::string>();
  if (kind == "device" && is({Kind::DeviceObjType}))
    return decode_device(value);
  if (kind == "ints" && is_list_of({Kind::IntType, Kind::SymIntType}))
    return decode_all<std::int64_t>(value, decode_int);
  if (kind == "doubles" && is_list_of({Kind::FloatType}))
    return decode_all<double>(value, decode_double);
  if (kind == "bools" && is_list_of({Kind::BoolType}))
    return decode_all<bool>(value, [](const json& element) { return element.get<bool>(); });
  if (kind == "list" && is_list_of({Kind::NumberType, Kind::StringType, Kind::OptionalType}))
    return decode_list(value, *type);
  throw FileProblem{"its header gives an argument of kind \"" + kind + "\" where the operator takes " +
                    declared->repr_str()};
}

at::Tensor bytes_at(const CaseFile& file, const json& stretch) {
  const auto [from, size] = file.stretch(stretch);
  at::Tensor bytes =
      at::empty({static_cast<std::int64_t>(size)}, at::TensorOptions().dtype(at::kByte).device(at::kCPU));
  if (size > 0)
    std::memcpy(bytes.data_ptr(), from, size);
  return bytes;
}

at::Generator generator_like(c10::Device device, const at::Tensor& state) {
  at::Generator generator = (device.is_cuda() ? at::globalContext().defaultGenerator(device)
                                              : at::detail::getDefaultCPUGenerator())
                                .clone();
  generator.set_state(state);
  return generator;
}

std::vector<SavedStorage> decode_storages(const CaseFile& file) {
  std::vector<SavedStorage> storages;
  for (const json& encoded : file.header.at("storages")) {
    SavedStorage storage;
    storage.device = decode_device(encoded.at("device"));
    storage.whole = decode_size(encoded.at("bytes"));
    storage.begin = decode_size(encoded.at("begin"));
    storage.alignment = decode_size(encoded.at("alignment"));
    storage.changed = encoded.at("changed").get<bool>();
    storage.saved = bytes_at(file, encoded.at("data"));
    storage.size = storage.saved.nbytes();
    require(storage.alignment < kAlignment && storage.begin % kAlignment == 0, "the alignment of a storage");
    require(storage.begin <= storage.whole && storage.size <= storage.whole - storage.begin,
            "a storage is smaller than its data");
    if (storage.device.is_cuda())
      storage.saved = storage.saved.to(storage.device);
    storages.push_back(std::move(storage));
  }
  return storages;
}

/// Last element that a view reaches, or nothing when it has none. Throws when the numbers do not fit.
std::optional<std::uint64_t> last_element(const SavedTensor& tensor) {
  std::uint64_t last = static_cast<std::uint64_t>(tensor.offset), elements = 1;
  bool empty = false;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    const auto size = static_cast<std::uint64_t>(tensor.sizes[i]), stride = static_cast<std::uint64_t>(tensor.strides[i]);
    std::uint64_t step = 0;
    empty = empty || size == 0;
    require(!__builtin_mul_overflow(elements, std::max<std::uint64_t>(size, 1), &elements) &&
                elements < std::uint64_t(1) << 60,
            "a tensor is larger than any memory");
    require(!__builtin_mul_overflow(size == 0 ? 0 : size - 1, stride, &step) &&
                !__builtin_add_overflow(last, step, &last) && last < std::uint64_t(1) << 60,
            "a tensor reaches beyond any memory");
  }
  return empty ? std::nullopt : std::optional(last);
}

std::vector<SavedTensor> decode_tensors(const CaseFile& file, const std::vector<SavedStorage>& storages) {
  std::vector<SavedTensor> tensors;
  for (const json& encoded : file.header.at("tensors")) {
    SavedTensor tensor;
    tensor.name = encoded.at("name").get<std::string>();
    tensor.same_as = tensors.size();
    if (encoded.at("storage").is_null()) {
      tensors.push_back(std::move(tensor));
      continue;
    }
    const std::uint64_t index = decode_size(encoded.at("storage"));
    require(index < storages.size(), "a tensor is in a storage that is not there");
    tensor.storage = static_cast<int>(index);
    const SavedStorage& storage = storages[index];
    const c10::ScalarType type = dtype_of(encoded.at("dtype"));
    tensor.dtype = c10::scalarTypeToTypeMeta(type);
    for (const json& size : encoded.at("sizes"))
      tensor.sizes.push_back(decode_int(size));
    for (const json& stride : encoded.at("strides"))
      tensor.strides.push_back(decode_int(stride));
    tensor.offset = decode_int(encoded.at("offset"));
    const auto negative = [](std::int64_t number) { return number < 0; };
    require(tensor.sizes.size() == tensor.strides.size() && tensor.sizes.size() <= kMostDimensions &&
                tensor.offset >= 0 && std::none_of(tensor.sizes.begin(), tensor.sizes.end(), negative) &&
                std::none_of(tensor.strides.begin(), tensor.strides.end(), negative),
            "the sizes and strides of a tensor");
    const std::size_t item = tensor.dtype.itemsize();
    if (const auto last = last_element(tensor)) {
      require(static_cast<std::uint64_t>(tensor.offset) * item >= storage.begin &&
                  (*last + 1) * item <= storage.begin + storage.size,
              "a tensor reaches beyond its data");
    }
    tensor.requires_grad = encoded.at("requires_grad").get<bool>();
    require(!tensor.requires_grad || c10::isFloatingType(type) || c10::isComplexType(type),
            "a tensor of integers has a gradient");
    tensor.wrapped_number = encoded.at("wrapped_number").get<bool>();
    require(!tensor.wrapped_number || tensor.sizes.empty(), "a number has dimensions");
    tensor.keys = c10::DispatchKeySet(storage.device.is_cuda() ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU);
    const bool conjugate = encoded.at("conjugate").get<bool>();
    require(!conjugate || c10::isComplexType(type), "a conjugate of real numbers");
    if (conjugate)
      tensor.keys = tensor.keys.add(c10::DispatchKey::Conjugate);
    if (encoded.at("negative").get<bool>())
      tensor.keys = tensor.keys.add(c10::DispatchKey::Negative);
    const std::uint64_t same = decode_size(encoded.at("same_as"));
    require(same <= tensors.size() && (same == tensors.size() || tensors[same].storage == tensor.storage),
            "a tensor is the same as another that is not there");
    tensor.same_as = same;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<SavedArgument> decode_arguments(const CaseFile& file, const Operator& op, std::size_t tensors) {
  const auto& schema = op.handle.schema().arguments();
  const json& encoded = file.header.at("arguments");
  require(encoded.is_array() && encoded.size() == schema.size(),
          "the number of arguments is not the operator's");
  std::vector<SavedArgument> arguments;
  // Tensors belong to arguments in their order, each to one.
  std::size_t next = 0;
  const auto is_next = [&](const json& index) {
    require(decode_size(index) == next && next < tensors, "an argument is a tensor that is not there");
    ++next;
  };
  for (std::size_t i = 0; i < schema.size(); ++i) {
    const c10::TypePtr& type = schema[i].type();
    const json& one = encoded[i];
    require(one.is_object() && one.size() == 1, "an argument has not one kind");
    const auto only = one.begin();
    const std::string kind = only.key();
    const json& value = *only;
    SavedArgument argument;
    argument.first = next;
    const bool optional = type->kind() == c10::TypeKind::OptionalType;
    const c10::Type& inner = optional ? *type->castRaw<c10::OptionalType>()->getElementType() : *type;
    const auto element = [&]() -> const c10::Type& {
      require(inner.kind() == c10::TypeKind::ListType, "an argument is a list, and its operator takes none");
      return *inner.castRaw<c10::ListType>()->getElementType();
    };
    if (kind == "tensor") {
      require(inner.kind() == c10::TypeKind::TensorType, "an argument is a tensor, and its operator takes none");
      argument.kind = SavedArgument::Kind::tensor;
      is_next(value);
    } else if (kind == "tensors") {
      require(element().kind() == c10::TypeKind::TensorType && value.is_array(), "a list of tensors");
      argument.kind = SavedArgument::Kind::tensor_list;
      for (const json& index : value)
        is_next(index);
    } else if (kind == "optional_tensors") {
      require(element().kind() == c10::TypeKind::OptionalType && value.is_array() &&
                  element().castRaw<c10::OptionalType>()->getElementType()->kind() == c10::TypeKind::TensorType,
              "a list of optional tensors");
      argument.kind = SavedArgument::Kind::optional_tensor_list;
      for (const json& index : value) {
        argument.absent.push_back(index.is_null());
        if (!index.is_null())
          is_next(index);
      }
    } else if (kind == "generator") {
      require(inner.kind() == c10::TypeKind::GeneratorType, "an argument is a generator");
      argument.kind = SavedArgument::Kind::generator;
      argument.generator =
          generator_like(decode_device(value.at("device")), bytes_at(file, value.at("state")));
    } else {
      argument.value = decode_value(one, type);
    }
    argument.count = next - argument.first;
    arguments.push_back(std::move(argument));
  }
  require(next == tensors, "a tensor belongs to no argument");
  return arguments;
}

std::vector<GeneratorState> decode_generators(const CaseFile& file) {
  std::vector<GeneratorState> drawn;
  for (const json& encoded : file.header.at("generators")) {
    if (!encoded.at("drawn").get<bool>())
      continue;
    const c10::Device device = decode_device(encoded.at("device"));
    const at::Tensor state = bytes_at(file, encoded.at("state"));
    generator_like(device, state); // throws when it is no state
    drawn.push_back({device.is_cuda() ? at::globalContext().defaultGenerator(device)
                                      : at::detail::getDefaultCPUGenerator(),
                     state});
  }
  return drawn;
}

} // namespace

void save_case(const CallContext& context, const std::vector<GeneratorState>& drawn,
               const std::vector<ResultTensor>& program_results, bool varies) {
  if (registry().options.case_directory.empty() || !worth_saving(context.signature->id, varies))
    return;
  std::string reason;
  try {
    OwnWork own(*context.thread);
    const WithoutFileSizeSignal quiet;
    write_case(context, drawn, program_results);
  } catch (const FileProblem& problem) {
    reason = problem.reason;
  } catch (const std::exception& error) {
    reason = first_line(error.what());
  } catch (...) {
    reason = "an exception of an unknown type";
  }
  if (!reason.empty())
    journal::remark("no case of " + context.op->name + " was saved: " + reason);
}

c10::Device working_device(const SavedCall& call, const std::vector<ResultTensor>& results) {
  for (const ResultTensor& result : results)
    if (call.device().is_cpu() && result.tensor.defined() && result.tensor.is_cuda())
      return result.tensor.device();
  return call.device();
}

bool needs_cuda(const json& header) {
  const auto device = header.find("device");
  return device != header.end() && device->is_string() &&
         device->get_ref<const std::string&>().rfind("cuda", 0) == 0;
}

LoadedCase load_case(CaseFile file, std::uint64_t memory_limit) {
  LoadedCase loaded;
  try {
    const std::string name = file.header.at("operator"), overload = file.header.at("overload");
    loaded.op = find_operator(name, overload);
    if (!loaded.op)
      throw NotExamined{file.header.at("program").at("registers_operator").get<bool>()
                            ? "operator " + name + " is registered by the program, not by LibTorch: replay it with "
                                                   "--program PROGRAM"
                            : "operator " + name + " is not in this version of LibTorch"};
    if (!loaded.op->measured)
      throw NotExamined{"operator " + name + " is not re-executed" +
                        (loaded.op->reason.empty() ? "" : ": " + loaded.op->reason)};
    std::vector<SavedStorage> storages = decode_storages(file);
    std::vector<SavedTensor> tensors = decode_tensors(file, storages);
    std::vector<SavedArgument> arguments = decode_arguments(file, *loaded.op, tensors.size());
    loaded.call = std::make_unique<SavedCall>(*loaded.op, std::move(storages), std::move(tensors),
                                              std::move(arguments));
    loaded.drawn = decode_generators(file);
  } catch (const json::exception& error) {
    throw FileProblem{std::string("its header makes no sense: ") + error.what()};
  }
  if (2 * loaded.call->bytes() > memory_limit)
    throw NotExamined{"its arguments (" + std::to_string(loaded.call->bytes() >> 20) +
                      " MiB, held twice) are over the memory budget"};
  loaded.header = std::move(file.header);
  return loaded;
}

std::string device_name(c10::Device device) {
  if (device.is_cpu())
    return "CPU " + at::get_cpu_capability();
  // cudaDeviceProp begins with the name in every version; the rest of it is room.
  using Properties = int (*)(void*, int);
  auto get = reinterpret_cast<Properties>(::dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties_v2"));
  if (!get)
    get = reinterpret_cast<Properties>(::dlsym(RTLD_DEFAULT, "cudaGetDeviceProperties"));
  std::array<char, 8192> properties{};
  if (!get || get(properties.data(), device.index()) != 0)
    return "CUDA device";
  properties[255] = 0;
  return properties.data();
}

c10::ScalarType dtype_of(const std::string& name) {
  for (int i = 0; i < static_cast<int>(c10::ScalarType::NumOptions); ++i) {
    const auto type = static_cast<c10::ScalarType>(i);
    if (type == c10::ScalarType::Undefined || c10::isQIntType(type) || dtype_name(type) != name)
      continue;
    if (c10::scalarTypeToTypeMeta(type).itemsize() > 0)
      return type;
  }
  throw FileProblem{"its header names no element type that is known here: " + name.substr(0, 40)};
}

} // namespace reprobe::op
