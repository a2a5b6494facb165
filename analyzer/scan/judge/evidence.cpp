#include "analyzer/scan/judge/evidence.h"

#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/values.h"

#include <algorithm>
#include <functional>

namespace reprobe::scan {
namespace {

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.rfind(prefix, 0) == 0;
}

void look_at_value(const Value& value, bool device_context, Program& program) {
  for_each_value(value, [&](const Value& v) {
    const std::string name = last_part(v.text);
    if (v.kind == Value::Kind::variable || v.kind == Value::Kind::enumerator) {
      if (name == "kCUDA" || v.text == "c10::DeviceType::CUDA" || v.text == "at::DeviceType::CUDA")
        program.uses_cuda = true;
      if (name == "kHalf" || name == "kBFloat16" || name == "kFloat16" || v.text == "c10::ScalarType::Half" ||
          v.text == "c10::ScalarType::BFloat16")
        program.half_precision = true;
    }
    if (v.kind == Value::Kind::string && device_context && starts_with(v.text, "cuda"))
      program.uses_cuda = true;
  });
}

void look_at(const Event& event, Program& program) {
  const std::string callee = plain_name(event.callee), name = last_part(event.callee);
  // Asking whether there is a GPU is not using one, but programs that ask do use it.
  for (std::string_view prefix : {"torch::cuda::", "at::cuda::", "c10::cuda::", "cudnn", "cublas", "curand",
                                  "cudaMalloc", "cudaMemcpy", "cudaStream", "cudaSetDevice", "cudaLaunch"})
    if (starts_with(callee, prefix))
      program.uses_cuda = true;
  if (event.launch)
    program.uses_cuda = true;
  const bool torch_member =
      callee == "at::Tensor::cuda" || callee == "torch::nn::Module::cuda" || !event.resolved;
  if (name == "cuda" && event.receiver && torch_member)
    program.uses_cuda = true;

  const bool foreign = event.external || !event.resolved;
  if (foreign && (name == "backward" || callee == "torch::autograd::grad"))
    program.trains = true;
  if (callee.find("torch::autograd::Function") != std::string::npos)
    program.trains = true;
  if (starts_with(callee, "torch::optim::") || callee.find("::optim::") != std::string::npos)
    program.trains = program.optimizes = true;
  if (foreign && name.find("autocast") != std::string::npos)
    program.half_precision = true;
  if (callee == "torch::load" || callee == "torch::jit::load" || name == "load_parameters")
    program.loads_weights = true;
  if (starts_with(event.macro, "TORCH_LIBRARY") || starts_with(event.macro, "PYBIND11_MODULE"))
    program.is_extension = true;

  const bool device_context = event.result_type.find("Device") != std::string::npos || name == "to" ||
                              name == "device" || callee.find("Device") != std::string::npos;
  for (const Value& argument : event.arguments)
    look_at_value(argument, device_context, program);
  if (event.receiver)
    look_at_value(*event.receiver, device_context, program);

  if (event.kind == Event::Kind::construct) {
    for (const std::string& type : names_of(event)) {
      if (starts_with(type, "torch::nn::Conv"))
        program.has_convolution = true;
      if (type == "torch::nn::Linear" || type == "torch::nn::Bilinear")
        program.has_linear = program.multiplies_matrices = true;
      static const std::set<std::string, std::less<>> products = {"torch::nn::LSTM",
                                                                  "torch::nn::GRU",
                                                                  "torch::nn::RNN",
                                                                  "torch::nn::MultiheadAttention",
                                                                  "torch::nn::Transformer",
                                                                  "torch::nn::TransformerEncoderLayer",
                                                                  "torch::nn::TransformerDecoderLayer"};
      program.multiplies_matrices |= products.contains(type);
    }
  }
  if (starts_with(callee, "at::linear") || starts_with(callee, "torch::linear"))
    program.has_linear = program.multiplies_matrices = true;
  static const std::set<std::string, std::less<>> products = {"matmul",  "mm", "bmm",   "addmm",
                                                              "baddbmm", "mv", "addmv", "einsum"};
  program.multiplies_matrices |= foreign && products.contains(name);
}

void look_at(const TranslationUnit& unit, Program& program) {
  if (unit.language == "cuda" || unit.language == "hip")
    program.uses_cuda = true;
  if (unit.status != "full")
    program.partial = true;
  for (const std::string& include : unit.includes) {
    if (include.find("cuda") != std::string::npos || include.find("cudnn") != std::string::npos)
      program.uses_cuda = true;
    if (include.find("torch/extension.h") != std::string::npos ||
        include.find("pybind11") != std::string::npos)
      program.is_extension = true;
  }
}

Program describe(const Codebase& project, FunctionRef main, std::set<const Function*> functions) {
  Program program;
  program.main = main;
  program.functions = std::move(functions);
  std::set<const TranslationUnit*> units;
  for (const FunctionRef& ref : project.functions()) {
    if (!program.functions.contains(ref.function))
      continue;
    units.insert(ref.unit);
    if (ref.function->is_kernel)
      program.uses_cuda = true;
    for (const Event& event : ref.function->events)
      look_at(event, program);
  }
  for (const TranslationUnit* unit : units)
    look_at(*unit, program);
  if (program.is_extension)
    program.trains = true; // Python does
  return program;
}

} // namespace

Evidence::Evidence(const Codebase& project) {
  std::set<const Function*> all;
  for (const FunctionRef& ref : project.functions())
    all.insert(ref.function);
  whole_ = describe(project, {}, std::move(all));
  for (const TranslationUnit& unit : project.units())
    look_at(unit, whole_);
  if (whole_.is_extension)
    whole_.trains = true;
  for (const FunctionRef& main : project.mains())
    programs_.push_back(describe(project, main, project.reachable(main)));
}

std::vector<const Program*> Evidence::programs_of(const Function* function) const {
  std::vector<const Program*> out;
  for (const Program& program : programs_)
    if (program.functions.contains(function))
      out.push_back(&program);
  if (out.empty())
    out.push_back(&whole_);
  return out;
}

bool Evidence::may_use_cuda(const Function* function) const {
  const std::vector<const Program*> programs = programs_of(function);
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program* p) { return p->uses_cuda || (p->partial && whole_.uses_cuda); });
}

bool Evidence::may_train(const Function* function) const {
  const std::vector<const Program*> programs = programs_of(function);
  return std::any_of(programs.begin(), programs.end(),
                     [&](const Program* p) { return p->trains || (p->partial && whole_.trains); });
}

bool Evidence::may_be_half(const Function* function) const {
  const std::vector<const Program*> programs = programs_of(function);
  return std::any_of(programs.begin(), programs.end(), [](const Program* p) { return p->half_precision; });
}

bool Evidence::predicts_images(const Function* function) const {
  const std::vector<const Program*> programs = programs_of(function);
  return std::all_of(programs.begin(), programs.end(),
                     [](const Program* p) { return p->has_convolution && !p->has_linear && p->main; });
}

} // namespace reprobe::scan
