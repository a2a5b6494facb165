// Re-executes saved cases in place of a program's main. What to do is in <run directory>/replay, as JSON:
//   cases             [{index, path}]
//   mode              flags that differ from those of the cases: autocast ("none", "float16", "bfloat16"), tf32,
//                     deterministic_algorithms, warn_only; absent: as recorded
//   seconds_per_case  after which the process is ended by SIGALRM
//   kernels           also say which CUDA kernels ran
//   write_results     folder for the first result of each case
//   compare_with      name to a folder with first results of another mode or process: the distance goes under that name
// The journal gets {"kind": "replaying", "case"} before and {"kind": "replayed", "case", …} after each case.
#include "runtime/op/cases.h"
#include "runtime/op/flags.h"
#include "runtime/op/kernels.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <torch/version.h>
#include <unistd.h>

namespace reprobe::op {
namespace {

using nlohmann::json;

json with_mode(json flags, const json& mode, bool cuda) {
  for (const char* flag : {"deterministic_algorithms", "warn_only"})
    if (mode.contains(flag))
      flags[flag] = mode[flag];
  if (mode.contains("tf32"))
    for (const char* flag : {"tf32_matmul", "tf32_cudnn", "tf32_cudnn_rnn"})
      flags[flag] = mode["tf32"];
  if (mode.contains("autocast")) {
    for (const char* device : {"cpu", "cuda"})
      flags["autocast"][device]["enabled"] = false;
    if (json& autocast = flags["autocast"][cuda ? "cuda" : "cpu"]; mode["autocast"] != "none")
      autocast = {{"enabled", true}, {"dtype", mode["autocast"]}};
  }
  return flags;
}

void write_results(const std::string& path, const std::vector<ResultTensor>& results) {
  DataLayout layout;
  json tensors = json::array();
  std::vector<at::Tensor> contents;
  for (const ResultTensor& result : results) {
    if (!result.tensor.defined()) {
      tensors.push_back(nullptr);
      continue;
    }
    contents.push_back(result.tensor.resolve_conj().resolve_neg().cpu().contiguous());
    tensors.push_back({{"name", result.name},
                       {"dtype", dtype_name(contents.back().scalar_type())},
                       {"shape", contents.back().sizes().vec()},
                       {"data", layout.place(contents.back().nbytes())}});
  }
  CaseWriter writer(path, {{"schema", kResultsSchema}, {"tensors", std::move(tensors)}}, layout);
  for (const at::Tensor& tensor : contents)
    writer.append(tensor.const_data_ptr(), tensor.nbytes());
  writer.finish();
}

std::vector<ResultTensor> read_results(const std::string& path) {
  const CaseFile file = read_case_file(path, kResultsSchema, registry().options.memory);
  std::vector<ResultTensor> results;
  for (const json& encoded : file.header.at("tensors")) {
    if (encoded.is_null()) {
      results.push_back({});
      continue;
    }
    const auto [bytes, size] = file.stretch(encoded.at("data"));
    at::Tensor tensor = at::empty(encoded.at("shape").get<std::vector<std::int64_t>>(),
                                  dtype_of(encoded.at("dtype").get<std::string>()));
    if (tensor.nbytes() != size)
      throw FileProblem{"its header makes no sense: the bytes of a result"};
    if (size > 0)
      std::memcpy(tensor.data_ptr(), bytes, size);
    results.push_back({encoded.at("name").get<std::string>(), tensor});
  }
  return results;
}

OutputLine output_distance(const ResultTensor& from, const at::Tensor& to) {
  ResultComparison comparison({from}, "");
  comparison.add({{from.name, to}});
  return comparison.outputs().front();
}

/// How far first results are from those of another mode (or process): in ULP of their own type, from the other's rounded
/// to it; the other distances are taken in the other's type.
json distance(const std::vector<ResultTensor>& full, const std::vector<ResultTensor>& mode) {
  double max_ulp = 0, max_absolute = 0, max_relative = 0, differing_share = 0;
  bool comparable = full.size() == mode.size();
  for (std::size_t i = 0; comparable && i < full.size(); ++i) {
    const at::Tensor& a = full[i].tensor;
    if (a.defined() != mode[i].tensor.defined()) {
      comparable = false;
      break;
    }
    if (!a.defined())
      continue;
    const at::Tensor b = mode[i].tensor.resolve_conj().resolve_neg().cpu().contiguous();
    comparable = a.sizes() == b.sizes() &&
                 (a.scalar_type() == b.scalar_type() || (a.is_floating_point() && b.is_floating_point()));
    if (!comparable)
      break;
    const OutputLine steps = output_distance({full[i].name, a.to(b.scalar_type())}, b);
    const OutputLine values = output_distance(full[i], b.to(a.scalar_type()));
    max_ulp = std::max(max_ulp, steps.max_ulp);
    differing_share = std::max(differing_share, values.differing_share);
    max_absolute = std::max(max_absolute, values.max_absolute);
    max_relative = std::max(max_relative, values.max_relative);
  }
  if (!comparable)
    return {{"reason", "its results have other shapes or types than those that they are compared with"}};
  const auto finite = [](double value) -> json { return std::isinf(value) ? json("inf") : json(value); };
  return {{"differing_share", differing_share},
          {"max_ulp", finite(max_ulp)},
          {"max_absolute", finite(max_absolute)},
          {"max_relative", finite(max_relative)}};
}

struct Replay {
  json orders;
  std::string cuda_problem;

  void run() {
    for (const json& named : orders.at("cases")) {
      const json index = named.at("index");
      journal::line({{"kind", "replaying"}, {"case", index}});
      ::alarm(orders.at("seconds_per_case").get<unsigned>());
      json line;
      std::function<void()> once_more;
      std::unique_ptr<flags::Applied> flags;
      const std::string reason =
          reason_of([&] { line = replay(named.at("path"), index, once_more, flags); });
      if (!reason.empty())
        line = {{"verdict", "not-examined"}, {"reason", reason}};
      line["kind"] = "replayed";
      line["case"] = index;
      journal::line(line);
      if (once_more && orders.at("kernels").get<bool>())
        list_kernels(index, once_more);
      ::alarm(0);
    }
  }

  json replay(const std::string& path, const json& index, std::function<void()>& once_more,
              std::unique_ptr<flags::Applied>& flags) {
    try {
      return replay_file(read_case_file(path, kCaseSchema, registry().options.memory), index, once_more, flags);
    } catch (const FileProblem& problem) {
      throw NotExamined{"the case cannot be used: " + problem.reason};
    } catch (const json::exception& error) {
      throw NotExamined{std::string("the case cannot be used: its header makes no sense: ") + error.what()};
    }
  }

  json replay_file(CaseFile file, const json& index, std::function<void()>& once_more,
                   std::unique_ptr<flags::Applied>& flags) {
    ThreadState& thread = this_thread();
    const bool cuda = needs_cuda(file.header);
    if (cuda && !cuda_problem.empty())
      throw NotExamined{"device " + file.header["device"].get<std::string>() +
                        " is not on this machine: " + cuda_problem};
    flags = std::make_unique<flags::Applied>(with_mode(file.header.at("flags"), orders.at("mode"), cuda));
    std::shared_ptr<LoadedCase> loaded;
    {
      OwnWork own(thread);
      loaded = std::make_shared<LoadedCase>(load_case(std::move(file), registry().options.memory));
    }
    auto examination = std::make_shared<Examination>(thread, *loaded->op, *loaded->call, loaded->drawn);
    MeasurementLine result;
    try {
      result = examination->run();
    } catch (const c10::OutOfMemoryError&) {
      throw;
    } catch (const c10::Error& error) {
      return {{"verdict", "throws"}, {"reason", first_line(error.what_without_backtrace())}};
    }
    OwnWork own(thread);
    json line = to_json(result);
    const json& machine = loaded->header.at("machine");
    const c10::Device device = working_device(*loaded->call, examination->reference());
    line["results"] = examination->hashes();
    line["as_program"] = examination->hashes().front() == loaded->header.at("result_hash").get<std::string>();
    line["same_machine"] =
        machine.at("libtorch") == TORCH_VERSION && machine.at("device_name") == device_name(device);
    line["device"] = device.str();
    line["warning"] = examination->warning();
    const std::string file_name = "/" + index.dump();
    if (orders.contains("write_results"))
      write_results(orders["write_results"].get<std::string>() + file_name, examination->reference());
    for (const auto& [key, folder] : orders.at("compare_with").items())
      if (const std::string path = folder.get<std::string>() + file_name; ::access(path.c_str(), R_OK) == 0)
        line[key] = distance(read_results(path), examination->reference());
    registry().cuda_seen = registry().cuda_seen || device.is_cuda();
    if (device.is_cuda())
      once_more = [loaded, examination] { examination->execute_once(); };
    return line;
  }

  /// After the measurement is in the journal: a profiler that fails takes only the names with it.
  void list_kernels(const json& index, const std::function<void()>& work) {
    const std::string failed = reason_of([&] {
      const std::vector<std::string> names = kernels_of(work);
      if (!names.empty())
        journal::line({{"kind", "kernels"}, {"case", index}, {"names", names}});
    });
    if (!failed.empty())
      journal::remark("which CUDA kernels ran is not known: " + failed);
  }
};

/// Before anything asks LibTorch for CUDA: it looks for its CUDA half once.
std::string load_cuda(const std::string& libtorch) {
  if (c10::impl::hasDeviceGuardImpl(c10::kCUDA))
    return {};
  const std::string path = libtorch.substr(0, libtorch.rfind('/') + 1) + "libtorch_cuda.so";
  if (::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
    return {};
  const char* reason = ::dlerror();
  return reason ? reason : path + " does not load";
}

const char* replay(const char* libtorch, const char* directory) {
  static std::string failure;
  failure = start_journal(libtorch, directory);
  if (!failure.empty())
    return failure.c_str();
  std::ifstream file(registry().options.directory + "/replay");
  Replay replay{json::parse(file), {}};
  for (const json& named : replay.orders.at("cases"))
    if (named.at("cuda").get<bool>() && replay.cuda_problem.empty())
      replay.cuda_problem = load_cuda(libtorch);
  replay.run();
  journal::environment(environment_json());
  journal::end();
  return nullptr;
}

} // namespace
} // namespace reprobe::op

/// Called by the preloaded shim in place of main; null, or why nothing was re-executed.
extern "C" __attribute__((visibility("default"))) const char* reprobe_replay(const char* libtorch, const char* directory) {
  static std::string failure;
  try {
    return reprobe::op::replay(libtorch, directory);
  } catch (const std::exception& error) {
    return (failure = error.what()).c_str();
  } catch (...) {
    return "the replayer failed to start";
  }
}
