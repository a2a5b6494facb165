// LibTorch's most used names, for machines without LibTorch: signatures are loose, so that any version's calls fit.
#pragma once
#define REPROBE_LIBTORCH_DECLARATIONS 1

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace at { class Tensor; class Generator; }

namespace c10 {
enum class DeviceType : int8_t { CPU = 0, CUDA = 1, HIP = 6, MPS = 13, XPU = 12 };
enum class ScalarType : int8_t { Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf, ComplexFloat, ComplexDouble, Bool, BFloat16 = 15 };
enum class Layout : int8_t { Strided, Sparse };
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast };
constexpr DeviceType kCPU = DeviceType::CPU, kCUDA = DeviceType::CUDA;
constexpr ScalarType kByte = ScalarType::Byte, kChar = ScalarType::Char, kShort = ScalarType::Short, kInt = ScalarType::Int,
    kLong = ScalarType::Long, kHalf = ScalarType::Half, kFloat = ScalarType::Float, kDouble = ScalarType::Double,
    kBool = ScalarType::Bool, kBFloat16 = ScalarType::BFloat16;
constexpr ScalarType kUInt8 = kByte, kInt8 = kChar, kInt16 = kShort, kInt32 = kInt, kInt64 = kLong, kFloat16 = kHalf,
    kFloat32 = kFloat, kFloat64 = kDouble;
using DeviceIndex = int8_t;
struct Device {
  Device(DeviceType, DeviceIndex = -1);
  Device(const std::string&);
  Device(const char*);
  bool is_cuda() const; bool is_cpu() const; DeviceType type() const; DeviceIndex index() const;
  bool operator==(const Device&) const;
  std::string str() const;
};
struct Half { Half(); Half(float); operator float() const; };
struct BFloat16 { BFloat16(); BFloat16(float); operator float() const; };
struct Scalar {
  Scalar(double); Scalar(float); Scalar(int); Scalar(long); Scalar(long long); Scalar(unsigned); Scalar(bool);
  template <class T> T to() const;
};
template <class T> struct ArrayRef {
  ArrayRef(); ArrayRef(const T&); ArrayRef(std::initializer_list<T>); ArrayRef(const std::vector<T>&);
  const T* begin() const; const T* end() const; std::size_t size() const; const T& operator[](std::size_t) const;
  std::vector<T> vec() const; bool empty() const; const T* data() const;
};
using IntArrayRef = ArrayRef<int64_t>;
struct TensorOptions {
  TensorOptions(); TensorOptions(DeviceType); TensorOptions(ScalarType); TensorOptions(Device); TensorOptions(Layout);
  TensorOptions device(Device) const; TensorOptions device(DeviceType, DeviceIndex = -1) const;
  TensorOptions dtype(ScalarType) const; TensorOptions requires_grad(bool = true) const;
  TensorOptions layout(Layout) const; TensorOptions pinned_memory(bool) const;
};
struct NoGradGuard { NoGradGuard(); ~NoGradGuard(); };
struct AutoGradMode { AutoGradMode(bool); ~AutoGradMode(); };
struct InferenceMode { InferenceMode(bool = true); ~InferenceMode(); };
struct Error : std::exception {};
} // namespace c10

namespace c10::cuda {
struct CUDAStream { CUDAStream(); };
CUDAStream getCurrentCUDAStream(c10::DeviceIndex = -1);
CUDAStream getStreamFromPool(bool = false, c10::DeviceIndex = -1);
struct CUDAGuard { CUDAGuard(c10::DeviceIndex); CUDAGuard(c10::Device); ~CUDAGuard(); };
struct CUDAStreamGuard { CUDAStreamGuard(CUDAStream); ~CUDAStreamGuard(); };
} // namespace c10::cuda

namespace at {
using namespace c10;
namespace Reduction { enum Reduction { None, Mean, Sum, END }; }
namespace indexing { struct Slice { template <class... A> Slice(A&&...); }; struct TensorIndex { template <class T> TensorIndex(T&&); }; inline constexpr int None = 0; inline constexpr int Ellipsis = 0; }

struct Node { std::string name() const; };

class Generator {
public:
  Generator();
  void set_current_seed(uint64_t); uint64_t current_seed() const; uint64_t seed();
  Tensor get_state() const; void set_state(const Tensor&);
};
template <class Impl, class... A> Generator make_generator(A&&...);
TensorOptions requires_grad(bool = true);
TensorOptions dtype(ScalarType);
TensorOptions device(Device);

// A tensor operation: any arguments, a tensor back.
#define REPROBE_METHOD(NAME) template <class... A> Tensor NAME(A&&...) const; template <class... A> Tensor NAME(std::initializer_list<int64_t>, A&&...) const; \
  template <class... A> Tensor NAME(std::initializer_list<indexing::TensorIndex>, A&&...) const;
class Tensor {
public:
  Tensor();
  Tensor& operator=(const Tensor&);
  Tensor(const Tensor&);
  Tensor& operator=(Scalar);
  ~Tensor();
  Tensor operator-() const; Tensor operator~() const;
  Tensor& operator+=(const Tensor&); Tensor& operator+=(Scalar); Tensor& operator-=(const Tensor&); Tensor& operator-=(Scalar);
  Tensor& operator*=(const Tensor&); Tensor& operator*=(Scalar); Tensor& operator/=(const Tensor&); Tensor& operator/=(Scalar);
  template <class I> Tensor operator[](I&&) const;
  bool defined() const; bool is_cuda() const; bool is_contiguous() const; bool requires_grad() const;
  int64_t dim() const; int64_t size(int64_t) const; int64_t numel() const; IntArrayRef sizes() const; IntArrayRef strides() const;
  Device device() const; ScalarType dtype() const; ScalarType scalar_type() const; TensorOptions options() const;
  template <class T> T item() const; Scalar item() const; template <class T> T* data_ptr() const; void* data_ptr() const;
  template <class T> const T* const_data_ptr() const; template <class T> T* mutable_data_ptr() const;
  template <class... A> void backward(A&&...) const;
  Tensor& grad() const; Tensor& mutable_grad() const; std::shared_ptr<Node> grad_fn() const; void reset(); template <class F> void register_hook(F&&) const;
  template <class T, int N> struct Accessor { Accessor<T, N> operator[](int64_t) const; operator T&() const; };
  template <class T, int N> Accessor<T, N> accessor() const; template <class T, int N> Accessor<T, N> packed_accessor32() const;
  template <class... A> std::vector<Tensor> split(A&&...) const; template <class... A> std::vector<Tensor> chunk(A&&...) const;
  template <class... A> std::vector<Tensor> unbind(A&&...) const;
  template <class... A> std::tuple<Tensor, Tensor> sort(A&&...) const; template <class... A> std::tuple<Tensor, Tensor> topk(A&&...) const;
  template <class... A> std::tuple<Tensor, Tensor> kthvalue(A&&...) const; template <class... A> std::tuple<Tensor, Tensor> mode(A&&...) const;
  std::tuple<Tensor, Tensor> max(int64_t, bool = false) const; Tensor max() const; std::tuple<Tensor, Tensor> min(int64_t, bool = false) const; Tensor min() const;
  std::tuple<Tensor, Tensor> median(int64_t, bool = false) const; Tensor median() const;
  @METHODS@
};
#undef REPROBE_METHOD
Tensor operator+(const Tensor&, const Tensor&); Tensor operator+(const Tensor&, Scalar); Tensor operator+(Scalar, const Tensor&);
Tensor operator-(const Tensor&, const Tensor&); Tensor operator-(const Tensor&, Scalar); Tensor operator-(Scalar, const Tensor&);
Tensor operator*(const Tensor&, const Tensor&); Tensor operator*(const Tensor&, Scalar); Tensor operator*(Scalar, const Tensor&);
Tensor operator/(const Tensor&, const Tensor&); Tensor operator/(const Tensor&, Scalar); Tensor operator/(Scalar, const Tensor&);
Tensor operator<(const Tensor&, const Tensor&); Tensor operator<(const Tensor&, Scalar); Tensor operator>(const Tensor&, const Tensor&);
Tensor operator>(const Tensor&, Scalar); Tensor operator<=(const Tensor&, Scalar); Tensor operator>=(const Tensor&, Scalar);
Tensor operator==(const Tensor&, const Tensor&); Tensor operator==(const Tensor&, Scalar); Tensor operator!=(const Tensor&, Scalar);
std::ostream& operator<<(std::ostream&, const Tensor&);

#define REPROBE_FUNCTION(NAME) template <class... A> Tensor NAME(A&&...); template <class... A> Tensor NAME(std::initializer_list<int64_t>, A&&...); \
  Tensor NAME(const Tensor&, const Tensor&, std::optional<Tensor>, int64_t = 1, int64_t = -100);
@FUNCTIONS@
#define REPROBE_FACTORY(NAME) template <class... A> at::Tensor NAME(A&&...); template <class... A> at::Tensor NAME(std::initializer_list<int64_t>, A&&...);
@FACTORIES@
template <class... A> std::tuple<Tensor, Tensor> sort(A&&...); template <class... A> std::tuple<Tensor, Tensor> topk(A&&...);
template <class... A> std::vector<Tensor> meshgrid(A&&...); template <class... A> std::vector<Tensor> broadcast_tensors(A&&...);
@TUPLE_FUNCTIONS@
template <class... A> std::tuple<Tensor, Tensor> _unique2(A&&...); template <class... A> std::tuple<Tensor, Tensor> unique_consecutive(A&&...);

struct Context {
  void setDeterministicCuDNN(bool); bool deterministicCuDNN() const; void setBenchmarkCuDNN(bool); bool benchmarkCuDNN() const;
  void setDeterministicAlgorithms(bool, bool); bool deterministicAlgorithms() const; bool deterministicAlgorithmsWarnOnly() const;
  void setUserEnabledCuDNN(bool); bool userEnabledCuDNN() const; void setAllowTF32CuBLAS(bool); bool allowTF32CuBLAS() const;
  void setAllowTF32CuDNN(bool); bool allowTF32CuDNN() const; void setBenchmarkLimitCuDNN(int); void setFloat32MatmulPrecision(const std::string&);
  void setDeterministicFillUninitializedMemory(bool); void setDeterministicMkldnn(bool); void setUserEnabledMkldnn(bool);
  @SWITCHES@
  const Generator& defaultGenerator(Device); bool hasCUDA() const; bool hasCuDNN() const;
};
enum class Float32Backend { GENERIC, CUDA, MKLDNN }; enum class Float32Op { ALL, CONV, RNN, MATMUL }; enum class Float32Precision { NONE, IEEE, TF32, BF16 };
enum class Float32MatmulPrecision { HIGHEST, HIGH, MEDIUM };
Context& globalContext();
void manual_seed(uint64_t);
void set_num_threads(int); int get_num_threads(); int get_num_interop_threads(); void set_num_interop_threads(int);
template <class F> void parallel_for(int64_t, int64_t, int64_t, const F&);
namespace detail { const Generator& getDefaultCPUGenerator(); Generator createCPUGenerator(uint64_t = 0); }
namespace cuda { namespace detail { const Generator& getDefaultCUDAGenerator(c10::DeviceIndex = -1); Generator createCUDAGenerator(c10::DeviceIndex = -1); } using namespace c10::cuda; }
namespace autocast {
bool is_enabled(); bool is_autocast_enabled(DeviceType); bool is_cpu_enabled();
@AUTOCAST@
void set_autocast_dtype(DeviceType, ScalarType); void set_autocast_gpu_dtype(ScalarType); void clear_cache(); void increment_nesting(); void decrement_nesting();
void set_autocast_cache_enabled(bool);
}
} // namespace at

namespace torch {
using namespace at;
using at::manual_seed;
using Dtype = at::ScalarType;
@FACTORIES@
at::Tensor randint(int64_t, int64_t, std::initializer_list<int64_t>, at::TensorOptions = {});
at::Tensor randint(int64_t, std::initializer_list<int64_t>, at::TensorOptions = {});
at::Tensor normal(double, double, std::initializer_list<int64_t>, at::Generator = {}, at::TensorOptions = {});
template <class T> at::Tensor full(std::initializer_list<int64_t>, T, at::TensorOptions = {});
template <class T> at::Tensor tensor(std::initializer_list<T>, at::TensorOptions = {});
void set_num_threads(int); int get_num_threads();
template <class... A> void save(A&&...); template <class... A> void load(A&&...);
namespace cuda { bool is_available(); std::size_t device_count(); bool cudnn_is_available(); void manual_seed(uint64_t); void manual_seed_all(uint64_t); void synchronize(int64_t = -1); }
namespace autograd {
using Variable = at::Tensor; using variable_list = std::vector<at::Tensor>; using tensor_list = variable_list;
struct AutogradContext { template <class... A> void save_for_backward(A&&...); variable_list get_saved_variables() const; std::unordered_map<std::string, at::Scalar> saved_data; template <class... A> void mark_non_differentiable(A&&...); };
template <class T> struct Function { template <class... A> static at::Tensor apply(A&&...); };
template <class... A> variable_list grad(A&&...);
}
using at::indexing::Slice;

struct OrderedDictEntry { std::string key() const; at::Tensor& value() const; std::string k; };
namespace nn {
class Module : public std::enable_shared_from_this<Module> {
public:
  Module(); explicit Module(std::string); virtual ~Module();
  virtual void train(bool = true); void eval(); bool is_training() const noexcept; template <class... A> void to(A&&...);
  std::vector<at::Tensor> parameters(bool = true) const; std::vector<at::Tensor> buffers(bool = true) const; std::vector<OrderedDictEntry> named_parameters(bool = true) const;
  template <class T> T register_module(std::string, T); template <class... A> at::Tensor& register_parameter(A&&...); template <class... A> at::Tensor& register_buffer(A&&...);
  std::vector<std::shared_ptr<Module>> modules(bool = true) const; std::vector<std::shared_ptr<Module>> children() const; template <class F> void apply(const F&); virtual void zero_grad(bool = true);
  template <class T> T* as(); std::string name() const; template <class... A> void save(A&&...) const; template <class... A> void load(A&&...);
};
template <class T> struct Cloneable : virtual Module { using Module::Module; };
template <class Impl> class ModuleHolder {
public:
  ModuleHolder(); ModuleHolder(std::nullptr_t); template <class Head, class... Tail> explicit ModuleHolder(Head&&, Tail&&...);
  ModuleHolder(std::shared_ptr<Impl>);
  Impl* operator->() const; Impl& operator*() const; std::shared_ptr<Impl> ptr() const; Impl* get() const; explicit operator bool() const; bool is_empty() const;
  template <class... A> at::Tensor operator()(A&&...) const;
};
#define TORCH_MODULE(NAME) class NAME : public torch::nn::ModuleHolder<NAME##Impl> { public: using torch::nn::ModuleHolder<NAME##Impl>::ModuleHolder; }
#define TORCH_MODULE_IMPL(NAME, IMPL) class NAME : public torch::nn::ModuleHolder<IMPL> { public: using torch::nn::ModuleHolder<IMPL>::ModuleHolder; }
#define REPROBE_MODULE(NAME) \
  struct NAME##Options { template <class... A> explicit NAME##Options(A&&...); explicit NAME##Options(std::initializer_list<int64_t>); @OPTIONS@ }; \
  class NAME##Impl : public Cloneable<NAME##Impl> { public: NAME##Impl(); template <class... A> explicit NAME##Impl(A&&...); template <class... A> at::Tensor forward(A&&...); at::Tensor weight, bias; void reset(); NAME##Options options; template <class T> void push_back(T&&); template <class... A> void reset_parameters(A&&...); }; \
  TORCH_MODULE(NAME);
@MODULES@
struct AnyModule { template <class T> AnyModule(T&&); template <class... A> at::Tensor forward(A&&...); };
namespace init { template <class... A> at::Tensor xavier_uniform_(A&&...); template <class... A> at::Tensor xavier_normal_(A&&...); template <class... A> at::Tensor kaiming_uniform_(A&&...); template <class... A> at::Tensor kaiming_normal_(A&&...);
  template <class... A> at::Tensor normal_(A&&...); template <class... A> at::Tensor uniform_(A&&...); template <class... A> at::Tensor constant_(A&&...); template <class... A> at::Tensor zeros_(A&&...); template <class... A> at::Tensor ones_(A&&...); template <class... A> at::Tensor orthogonal_(A&&...); template <class... A> at::Tensor trunc_normal_(A&&...); }
namespace utils { template <class... A> double clip_grad_norm_(A&&...); template <class... A> void clip_grad_value_(A&&...);
  namespace rnn { struct PackedSequence { at::Tensor data() const; }; template <class... A> at::Tensor pad_sequence(A&&...); template <class... A> PackedSequence pack_padded_sequence(A&&...);
    template <class... A> PackedSequence pack_sequence(A&&...); template <class... A> std::tuple<at::Tensor, at::Tensor> pad_packed_sequence(A&&...); } }
namespace parallel { template <class M, class... A> at::Tensor data_parallel(M, at::Tensor, A&&...); template <class M> std::vector<M> replicate(const M&, const std::vector<at::Device>&); template <class... A> std::vector<at::Tensor> parallel_apply(A&&...); }
namespace functional {
#define REPROBE_FUNCTIONAL(NAME) template <class... A> at::Tensor NAME(A&&...);
@FUNCTIONALS@
#define REPROBE_FUNC_OPTIONS(NAME) struct NAME##FuncOptions { template <class... A> NAME##FuncOptions(A&&...); @OPTIONS_OF_FUNCTIONS@ };
@FUNCTIONAL_OPTIONS@
}
} // namespace nn
using nn::Module;

namespace enumtype { @ENUM_STRUCTS@ }
@ENUM_CONSTANTS@

namespace optim {
class Optimizer { public: template <class... A> at::Tensor step(A&&...); void zero_grad(bool = true); std::vector<at::Tensor>& parameters(); template <class T> void add_param_group(T&&); };
#define REPROBE_OPTIMIZER(NAME) \
  struct NAME##Options { NAME##Options(double = 0.001); NAME##Options& lr(double); NAME##Options& momentum(double); NAME##Options& weight_decay(double); NAME##Options& nesterov(bool); NAME##Options& betas(std::tuple<double, double>); NAME##Options& eps(double); NAME##Options& amsgrad(bool); NAME##Options& alpha(double); NAME##Options& max_iter(int64_t); double lr() const; }; \
  class NAME : public Optimizer { public: NAME(std::vector<at::Tensor>, NAME##Options = {}); };
REPROBE_OPTIMIZER(SGD) REPROBE_OPTIMIZER(Adam) REPROBE_OPTIMIZER(AdamW) REPROBE_OPTIMIZER(RMSprop) REPROBE_OPTIMIZER(Adagrad) REPROBE_OPTIMIZER(LBFGS)
struct LRScheduler { void step(); }; struct StepLR : LRScheduler { StepLR(Optimizer&, unsigned, double = 0.1); };
} // namespace optim

namespace data {
template <class D = at::Tensor, class T = at::Tensor> struct Example { Example(); Example(D, T); D data; T target; };
struct DataLoaderOptions { DataLoaderOptions(std::size_t = 1); DataLoaderOptions& batch_size(std::size_t); DataLoaderOptions& workers(std::size_t); DataLoaderOptions& enforce_ordering(bool); DataLoaderOptions& drop_last(bool); DataLoaderOptions& max_jobs(std::size_t); };
namespace samplers { struct RandomSampler { RandomSampler(int64_t); }; struct SequentialSampler { SequentialSampler(std::size_t); }; struct DistributedRandomSampler { template <class... A> DistributedRandomSampler(A&&...); void set_epoch(std::size_t); void reset(std::optional<std::size_t> = {}); }; struct DistributedSequentialSampler { template <class... A> DistributedSequentialSampler(A&&...); void set_epoch(std::size_t); void reset(std::optional<std::size_t> = {}); }; }
namespace datasets {
template <class D, class T> struct MapDataset { std::optional<std::size_t> size() const; template <class U> MapDataset<MapDataset, U> map(U) &&; };
template <class Self, class S = Example<>> struct Dataset { virtual ~Dataset(); virtual S get(std::size_t) = 0; virtual std::optional<std::size_t> size() const = 0; template <class T> MapDataset<Self, T> map(T) &&; };
struct MNIST : Dataset<MNIST> { enum class Mode { kTrain, kTest }; explicit MNIST(const std::string&, Mode = Mode::kTrain); Example<> get(std::size_t) override; std::optional<std::size_t> size() const override; };
}
namespace transforms { template <class T = Example<>> struct Stack { Stack(); }; template <class T = at::Tensor> struct Normalize { template <class... A> Normalize(A&&...); }; template <class I = at::Tensor, class O = at::Tensor> struct Lambda { template <class F> Lambda(F&&); }; }
template <class D, class S> struct StatelessDataLoader { Example<>* begin(); Example<>* end(); void join(); };
template <class S = samplers::RandomSampler, class D> std::unique_ptr<StatelessDataLoader<D, S>> make_data_loader(D, DataLoaderOptions = {});
template <class S, class D> std::unique_ptr<StatelessDataLoader<D, S>> make_data_loader(D, S, DataLoaderOptions = {});
} // namespace data
namespace jit { struct IValue { template <class T> IValue(T&&); at::Tensor toTensor() const; }; struct Module { template <class... A> IValue forward(A&&...); void eval(); void train(bool = true); template <class... A> void to(A&&...); }; template <class... A> Module load(A&&...); using script_module = Module; }
namespace serialize { struct InputArchive { template <class... A> void load_from(A&&...); template <class... A> void read(A&&...); }; struct OutputArchive { template <class... A> void save_to(A&&...); template <class... A> void write(A&&...); }; }
using c10::InferenceMode;
using NoGradGuard = c10::NoGradGuard;
} // namespace torch
namespace F_ {}

#define TORCH_CHECK(CONDITION, ...) do { if (!(CONDITION)) throw c10::Error(); } while (false)
#define AT_ASSERT(CONDITION) TORCH_CHECK(CONDITION)
#define AT_ASSERTM(CONDITION, ...) TORCH_CHECK(CONDITION)
#define TORCH_INTERNAL_ASSERT(CONDITION, ...) TORCH_CHECK(CONDITION)
#define C10_CUDA_CHECK(EXPRESSION) do { (void)(EXPRESSION); } while (false)
#define AT_CUDA_CHECK(EXPRESSION) C10_CUDA_CHECK(EXPRESSION)
#define C10_CUDA_KERNEL_LAUNCH_CHECK() do {} while (false)
#define REPROBE_DISPATCH(...) [&] { using scalar_t = float; (__VA_ARGS__)(); }()
#define AT_DISPATCH_FLOATING_TYPES(TYPE, NAME, ...) REPROBE_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND_HALF(TYPE, NAME, ...) REPROBE_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES(TYPE, NAME, ...) REPROBE_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND(A, TYPE, NAME, ...) REPROBE_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_ALL_TYPES_AND2(A, B, TYPE, NAME, ...) REPROBE_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND(A, TYPE, NAME, ...) REPROBE_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_FLOATING_TYPES_AND2(A, B, TYPE, NAME, ...) REPROBE_DISPATCH(__VA_ARGS__)
#define AT_DISPATCH_INTEGRAL_TYPES(TYPE, NAME, ...) [&] { using scalar_t = int; (__VA_ARGS__)(); }()
namespace reprobe_bindings { struct module_ { template <class... A> module_& def(A&&...); template <class... A> module_& impl(A&&...); }; }
#define PYBIND11_MODULE(NAME, VARIABLE) static void reprobe_bind_##VARIABLE(reprobe_bindings::module_& VARIABLE)
#define TORCH_LIBRARY(NAME, VARIABLE) static void reprobe_library_##NAME(reprobe_bindings::module_& VARIABLE)
#define TORCH_LIBRARY_FRAGMENT(NAME, VARIABLE) static void reprobe_fragment_##NAME(reprobe_bindings::module_& VARIABLE)
#define TORCH_LIBRARY_IMPL(NAME, KEY, VARIABLE) static void reprobe_library_##NAME##_##KEY(reprobe_bindings::module_& VARIABLE)
