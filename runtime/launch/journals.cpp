#include "runtime/launch/journals.h"

#include "runtime/launch/symbols.h"
#include "runtime/op/journal.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace reprobe::launch {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

double number(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end())
    return 0;
  if (found->is_string())
    return *found == "inf" ? std::numeric_limits<double>::infinity() : 0;
  return found->get<double>();
}

} // namespace

void read_measurement(const json& line, report::Measurement& entry) {
  entry.verdict = line.at("verdict");
  entry.reason = line.at("reason");
  entry.rounds = line.at("rounds");
  entry.distinct = line.at("distinct");
  entry.microseconds = number(line, "microseconds");
  entry.blamed = line.at("blamed");
  entry.outputs.clear();
  for (const json& output : line.at("outputs")) {
    report::MeasuredOutput read;
    read.name = output.at("name");
    read.dtype = output.at("dtype");
    read.shape = output.at("shape").get<std::vector<std::int64_t>>();
    read.distinct = output.at("distinct");
    read.differing_share = number(output, "differing_share");
    read.max_ulp = number(output, "max_ulp");
    read.max_absolute = number(output, "max_absolute");
    read.max_relative = number(output, "max_relative");
    read.mean_absolute = number(output, "mean_absolute");
    read.v_ermv = number(output, "v_ermv");
    read.v_c = number(output, "v_c");
    read.nan_mismatches = output.value("nan_mismatches", std::uint64_t(0));
    read.infinity_mismatches = output.value("infinity_mismatches", std::uint64_t(0));
    if (output.contains("ulp_histogram"))
      read.ulp_histogram = output["ulp_histogram"].get<std::vector<std::uint64_t>>();
    if (output.contains("first_differing"))
      read.first_differing = output["first_differing"].get<std::vector<std::int64_t>>();
    if (output.contains("same_values"))
      read.same_values = output["same_values"].get<bool>();
    entry.differing_share = std::max(entry.differing_share, read.differing_share);
    entry.max_ulp = std::max(entry.max_ulp, read.max_ulp);
    entry.max_absolute = std::max(entry.max_absolute, read.max_absolute);
    entry.max_relative = std::max(entry.max_relative, read.max_relative);
    entry.outputs.push_back(std::move(read));
  }
  if (entry.verdict == "not-examined") { // "replay not faithful": its distances are between unlike calls
    entry.rounds = entry.distinct = 0;
    entry.differing_share = entry.max_ulp = entry.max_absolute = entry.max_relative = 0;
    entry.outputs.clear();
  }
}

namespace {

struct SignatureRecord {
  report::Measurement entry;
  std::optional<std::uint32_t> site, parent;
  bool function = false; // the site is inside an autograd::Function
  std::string case_name;
  std::uint32_t id = 0;
};

struct Process {
  std::map<std::uint32_t, std::vector<Address>> sites;
  std::map<std::uint32_t, SignatureRecord> signatures;
  std::vector<std::string> remarks;
  json environment = json::object();
  Identity identity;
  std::vector<json> flags; // as journaled
  bool ended = false;
  std::uint64_t unlisted = 0, outside = 0;
  std::string replaying;
};

void read_signature(const json& line, Process& process) {
  SignatureRecord record;
  record.id = line.at("id");
  report::Measurement& entry = record.entry;
  entry.op = line.at("operator");
  entry.overload = line.at("overload");
  entry.signature = line.at("signature");
  entry.device = line.at("device");
  entry.direction = line.at("direction");
  entry.backward_node = line.at("backward_node");
  entry.path = line.at("path").get<std::vector<std::string>>();
  for (const auto& [key, value] : line.at("mode").items())
    entry.mode[key] = value;
  if (line.contains("site"))
    record.site = line["site"].get<std::uint32_t>();
  if (line.contains("parent"))
    record.parent = line["parent"].get<std::uint32_t>();
  record.function = line.at("function");
  entry.verdict = "not-examined";
  process.signatures[record.id] = std::move(record);
}

/// Between two measurements of the same: the one that says more.
int weight(const report::Measurement& entry) {
  return entry.verdict == "varies" ? 3 : entry.verdict == "stable" ? 2 : entry.reason.empty() ? 0 : 1;
}

void read_measured(const json& line, Process& process) {
  const auto found = process.signatures.find(line.at("id").get<std::uint32_t>());
  if (found == process.signatures.end())
    return;
  report::Measurement entry = found->second.entry;
  read_measurement(line, entry);
  report::Measurement& known = found->second.entry;
  if (known.rounds > 0 || !known.reason.empty()) { // several calls of the signature were examined
    report::Measurement& kept = weight(entry) >= weight(known) ? entry : known;
    const report::Measurement& other = &kept == &entry ? known : entry;
    if (kept.reason.empty() && other.verdict == "not-examined")
      kept.reason = "in another call: " + other.reason;
  }
  if (weight(entry) >= weight(known))
    known = std::move(entry);
}

Process read_journal(const fs::path& path) {
  Process process;
  std::ifstream file(path);
  for (std::string text; std::getline(file, text);) {
    const json line = json::parse(text, nullptr, false);
    if (line.is_discarded() || !line.is_object())
      break; // cut off by the program's end
    const std::string kind = line.value("kind", "");
    if (kind == "site") {
      for (const json& frame : line.at("frames"))
        process.sites[line.at("id")].emplace_back(frame.at(0).get<std::string>(),
                                                  frame.at(1).get<std::uint64_t>());
    } else if (kind == "signature") {
      read_signature(line, process);
    } else if (kind == "measured") {
      read_measured(line, process);
    } else if (kind == "case") {
      const auto found = process.signatures.find(line.at("id").get<std::uint32_t>());
      if (found != process.signatures.end())
        found->second.case_name = line.at("name");
    } else if (kind == "skipped") {
      const auto found = process.signatures.find(line.at("id").get<std::uint32_t>());
      if (found != process.signatures.end() && weight(found->second.entry) == 0)
        found->second.entry.reason = line.at("reason");
    } else if (kind == "remark") {
      process.remarks.push_back(line.at("text"));
    } else if (kind == "process") {
      process.identity = {line.at("rank"), false, line.at("host"), line.at("process")};
    } else if (kind == "flags" || kind == "flag") {
      process.flags.push_back(line);
    } else if (kind == "environment") {
      process.environment = line.at("values");
    } else if (kind == "end") {
      process.ended = true;
    }
  }
  return process;
}

void read_shared_page(const fs::path& path, Process& process) {
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0)
    return;
  void* memory = ::mmap(nullptr, sizeof(op::SharedPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED)
    return;
  auto& page = *static_cast<op::SharedPage*>(memory);
  for (auto& [id, record] : process.signatures)
    if (id < op::SharedPage::kSignatures)
      record.entry.calls = page.calls[id].load();
  process.unlisted = page.unlisted.load();
  process.outside = page.outside.load();
  for (auto& slot : page.replaying)
    if (slot.active.load() == 2)
      process.replaying.assign(slot.name, ::strnlen(slot.name, op::SharedPage::kNameBytes));
  ::munmap(memory, sizeof(op::SharedPage));
}

std::string shown_path(const std::string& file) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const std::string prefix = here.string() + "/";
  return !error && file.rfind(prefix, 0) == 0 ? file.substr(prefix.size()) : file;
}

/// The innermost frame in the program's own source; of a call inside autograd::Function::forward, the call of
/// apply.
void place(const std::vector<Address>& addresses, bool function, const Symbols& symbols,
           report::Measurement& entry) {
  bool after_apply = !function;
  const Frame* named = nullptr; // where there are no lines, the first function that is not LibTorch's
  for (const Address& address : addresses) {
    for (const Frame& frame : symbols.at(address)) {
      if (frame.file.find("torch/csrc/autograd/custom_function.h") != std::string::npos)
        after_apply = true;
      if (!after_apply)
        continue;
      if (frame.line != 0 && !is_library_file(frame.file)) {
        entry.file = shown_path(frame.file);
        entry.line = frame.line;
        entry.function = frame.function;
        return;
      }
      if (!named && frame.line == 0 && !frame.function.empty() && !is_library_function(frame.function))
        named = &frame;
    }
  }
  if (named)
    entry.function = named->function;
}

std::string key_of(const report::Measurement& entry) {
  std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", entry.op, entry.overload, entry.signature, entry.direction,
                  entry.file, entry.line, entry.function, fmt::join(entry.path, ">"));
  for (const auto& [name, value] : entry.mode)
    key += "|" + value.dump();
  return key;
}

void read_processes(const fs::path& path, Collected& collected) {
  std::ifstream file(path);
  std::size_t forked = 0;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields;
    for (std::size_t from = 0; fields.size() < 3 && from <= line.size();) {
      const auto tab = std::min(line.find('\t', from), line.size());
      fields.push_back(line.substr(from, tab - from));
      from = tab + 1;
      if (fields.size() == 3 && from <= line.size())
        fields.push_back(line.substr(from));
    }
    if (fields.size() < 4 || fields[2] != "not-observed")
      continue;
    if (fields[3].rfind("forked", 0) == 0) {
      ++forked;
      continue;
    }
    const std::string refusal = (fields[1].empty() ? "process " + fields[0] : fields[1]) + ": " + fields[3];
    if (std::find(collected.refusals.begin(), collected.refusals.end(), refusal) == collected.refusals.end())
      collected.refusals.push_back(refusal);
  }
  if (forked > 0)
    collected.remarks.push_back(fmt::format("{} forked {} of an observed process {} not observed", forked,
                                            forked == 1 ? "child" : "children",
                                            forked == 1 ? "was" : "were"));
}

void add_flags(const Process& process, const Symbols& symbols, Collected& collected) {
  std::size_t order = 0;
  for (const json& line : process.flags) {
    if (line.contains("values")) {
      collected.environment["flags_at_first"] = line["values"];
      continue;
    }
    json change = {{"flag", line.at("flag")}, {"from", line.at("from")}, {"to", line.at("to")},
                   {"step", line.at("step")}, {"order", order++},        {"operator", line.at("operator")},
                   {"process", process.identity.process}};
    report::Measurement at;
    if (line.contains("site"))
      if (const auto site = process.sites.find(line["site"]); site != process.sites.end())
        place(site->second, false, symbols, at);
    if (!at.file.empty() || !at.function.empty())
      change["source"] = {{"file", at.file}, {"line", at.line}, {"function", at.function}};
    collected.flags.push_back(std::move(change));
  }
}

void add(std::vector<Process>& processes, Collected& collected) {
  std::vector<Address> addresses;
  for (const Process& process : processes) {
    ++collected.observed_processes;
    if (!process.ended)
      ++collected.unfinished_processes;
    if (!process.ended && !process.replaying.empty())
      collected.replaying = process.replaying;
    if (process.unlisted > 0)
      collected.remarks.push_back(
          fmt::format("{} calls are not listed: the program made more than {} kinds of calls",
                      process.unlisted, op::SharedPage::kSignatures));
    for (const std::string& remark : process.remarks)
      collected.remarks.push_back(remark);
    if (!process.environment.empty())
      collected.environment = process.environment;
    collected.outside += process.outside;
    for (const auto& [id, site] : process.sites)
      addresses.insert(addresses.end(), site.begin(), site.end());
  }

  const Symbols symbols(addresses);
  for (const std::string& remark : symbols.remarks())
    collected.remarks.push_back(remark);
  std::map<std::string, std::size_t> known;
  for (Process& process : processes) {
    add_flags(process, symbols, collected);
    for (auto& [id, record] : process.signatures) {
      if (record.parent) {
        // Reached only in a re-execution: the program made the outermost caller's calls.
        auto caller = process.signatures.find(*record.parent);
        while (caller != process.signatures.end() && caller->second.parent)
          caller = process.signatures.find(*caller->second.parent);
        if (caller != process.signatures.end())
          record.entry.calls = caller->second.entry.calls;
      }
      report::Measurement entry = std::move(record.entry);
      entry.case_file = std::move(record.case_name);
      if (record.site)
        if (const auto site = process.sites.find(*record.site); site != process.sites.end())
          place(site->second, record.function, symbols, entry);
      if (entry.verdict == "not-examined" && entry.reason.empty())
        entry.reason = "the program ended before it was measured";
      if (entry.direction == "backward" && entry.file.empty() && entry.function.empty()) {
        if (!entry.reason.empty())
          entry.reason += "; ";
        entry.reason += "its forward call is not known";
      }
      const auto [at, fresh] = known.try_emplace(key_of(entry), collected.entries.size());
      if (fresh) {
        collected.entries.push_back(std::move(entry));
        continue;
      }
      report::Measurement& same = collected.entries[at->second];
      const std::uint64_t calls = same.calls + entry.calls;
      std::string other_case = entry.case_file;
      if (weight(entry) > weight(same) || (weight(entry) == weight(same) && entry.distinct > same.distinct)) {
        other_case = same.case_file;
        same = std::move(entry);
      }
      if (same.case_file.empty())
        same.case_file = std::move(other_case);
      else if (!other_case.empty())
        collected.unused_cases.push_back(std::move(other_case));
      same.calls = calls;
    }
  }
}

std::vector<Process> read_journals(const fs::path& run_directory) {
  std::vector<fs::path> journals;
  for (const auto& file : fs::directory_iterator(run_directory))
    if (file.path().filename().string().rfind("journal-", 0) == 0)
      journals.push_back(file.path());
  std::sort(journals.begin(), journals.end());
  std::vector<Process> processes;
  for (const fs::path& path : journals) {
    processes.push_back(read_journal(path));
    read_shared_page(run_directory / ("shared-" + path.filename().string().substr(8)), processes.back());
  }
  return processes;
}

} // namespace

Collected collect(const fs::path& run_directory) {
  auto by_file = collect_by(run_directory, [](const Identity&) { return fs::path(); });
  return std::move(by_file[fs::path()]);
}

std::map<fs::path, Collected> collect_by(const fs::path& run_directory,
                                         const std::function<fs::path(const Identity&)>& output_of) {
  std::map<fs::path, std::vector<Process>> processes;
  for (Process& process : read_journals(run_directory))
    processes[output_of(process.identity)].push_back(std::move(process));
  Collected common; // processes that are not observed leave no journal
  read_processes(run_directory / "processes", common);
  if (processes.empty())
    processes[output_of(op::process_identity())];
  std::map<fs::path, Collected> collected;
  for (auto& [path, of_file] : processes)
    add(of_file, collected[path] = common);
  return collected;
}

} // namespace reprobe::launch
