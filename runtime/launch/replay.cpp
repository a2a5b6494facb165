#include "runtime/launch/replay.h"

#include "analyzer/report/join.h"
#include "rules/error.h"
#include "runtime/environment/environment.h"
#include "runtime/launch/journals.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/process.h"
#include "runtime/launch/program.h"
#include "runtime/op/case_file.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <limits>
#include <map>
#include <set>
#include <sys/wait.h>

namespace reprobe::launch {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using report::MeasuredMode;
using report::Measurement;

constexpr int kCouldNot = 3;

struct Mode {
  std::string name; // empty: as recorded
  json flags = json::object();
};

std::vector<Mode> modes_of(const ReplayOptions& options) {
  std::vector<Mode> modes;
  if (options.as_recorded)
    modes.push_back({});
  if (options.amp) { // full precision first: the others are compared with it
    modes.push_back({"fp32", {{"autocast", "none"}, {"tf32", false}}});
    modes.push_back({"tf32", {{"autocast", "none"}, {"tf32", true}}});
    modes.push_back({"autocast-float16", {{"autocast", "float16"}, {"tf32", false}}});
    modes.push_back({"autocast-bfloat16", {{"autocast", "bfloat16"}, {"tf32", false}}});
  }
  if (options.strict) {
    modes.push_back({"deterministic-off", {{"deterministic_algorithms", false}, {"warn_only", false}}});
    modes.push_back({"warn-only", {{"deterministic_algorithms", true}, {"warn_only", true}}});
    modes.push_back({"deterministic-on", {{"deterministic_algorithms", true}, {"warn_only", false}}});
  }
  return modes;
}

struct Case {
  Measurement* entry;
  json header;
  std::vector<std::string> command; // that re-executes it
};

std::string text_at(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// Why full precision cannot be had from a case; empty when it can.
std::string cast_before(const json& header) {
  if (header.value("already_cast", false))
    return "its arguments had been cast by autocast before they were saved";
  for (const json& tensor : header.value("tensors", json::array()))
    if (const std::string dtype = text_at(tensor, "dtype"); dtype == "float16" || dtype == "bfloat16")
      return "an argument is " + dtype + " in the program: no mode has full precision";
  return {};
}

/// The flags that one process can have only once; those of a thread are set for each case.
json process_wide(const json& header) {
  json flags = header.value("flags", json::object());
  if (flags.is_object())
    for (const char* of_thread : {"grad", "inference", "autocast"})
      flags.erase(of_thread);
  return flags;
}

json refusal(const std::string& reason) {
  return {{"verdict", "not-examined"}, {"reason", reason}};
}

class Replayer {
public:
  Replayer(std::vector<Measurement>& entries, const ReplayOptions& options) : options_(options) {
    for (Measurement& entry : entries) {
      if (entry.case_file.empty())
        continue;
      try {
        Case one{&entry, op::read_case_header(entry.case_file, op::kCaseSchema), {}};
        one.command = command_for(one.header);
        cases_.push_back(std::move(one));
      } catch (const op::FileProblem& problem) {
        refuse(entry, "the case cannot be used: " + problem.reason);
      } catch (const json::exception& error) {
        refuse(entry, std::string("the case cannot be used: its header makes no sense: ") + error.what());
      } catch (const Error& error) {
        refuse(entry, error.what());
      }
    }
  }

  ReplayOutcome run() {
    for (const Mode& mode : modes_of(options_)) {
      std::vector<std::vector<json>> results(cases_.size()); // of each case, one a process
      for (int process = 0; process < options_.processes; ++process) {
        std::vector<json> round = run_mode(mode, process);
        for (std::size_t i = 0; i < cases_.size(); ++i)
          results[i].push_back(std::move(round[i]));
      }
      for (std::size_t i = 0; i < cases_.size(); ++i)
        conclude(cases_[i], mode, results[i]);
    }
    return std::move(outcome_);
  }

private:
  void refuse(Measurement& entry, const std::string& reason) {
    if (entry.verdict == "not-examined")
      entry.reason = reason;
    else
      outcome_.remarks.push_back(fmt::format("{} was not replayed: {}", entry.op, reason));
  }

  std::vector<std::string> command_for(const json& header) const {
    const json& program = header.at("program");
    if (!program.at("registers_operator").get<bool>())
      return {(library_directory() / "reprobe-replay").string()};
    if (!options_.program.empty())
      return options_.program;
    const std::string named = program.at("executable");
    if (options_.trust_program) {
      auto command = program.at("arguments").get<std::vector<std::string>>();
      if (command.empty())
        command.emplace_back();
      command.front() = named;
      return command;
    }
    throw Error("the operator is registered by the program", header.at("operator").get<std::string>(),
                "LibTorch does not have it", "give --program " + named + " if you trust it", kCouldNot);
  }

  /// One process for each set of flags and each program; what each case gave there.
  std::vector<json> run_mode(const Mode& mode, int process) {
    std::map<std::string, std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < cases_.size(); ++i)
      groups[json(cases_[i].command).dump() + process_wide(cases_[i].header).dump()].push_back(i);
    std::vector<json> results(cases_.size());
    if (mode.name == "tf32")
      for (auto& [key, group] : groups)
        std::erase_if(group, [&](std::size_t i) {
          const bool cpu = text_at(cases_[i].header, "device").rfind("cuda", 0) != 0;
          if (cpu)
            results[i] = refusal("TF32 is a mode of CUDA devices");
          return cpu;
        });
    for (auto& [key, group] : groups)
      while (!group.empty())
        group = run_process(mode, process, group, results);
    return results;
  }

  json orders(const Mode& mode, int process, const std::vector<std::size_t>& group) const {
    json cases = json::array();
    for (const std::size_t i : group)
      cases.push_back({{"index", i},
                       {"path", fs::absolute(cases_[i].entry->case_file).string()},
                       {"cuda", text_at(cases_[i].header, "device").rfind("cuda", 0) == 0}});
    const std::string label = mode.name.empty() ? "recorded" : mode.name;
    json orders = {{"cases", std::move(cases)},
                   {"mode", mode.flags},
                   {"seconds_per_case", unsigned(2 * options_.seconds_per_case) + 30},
                   {"kernels", process == 0},
                   {"compare_with", json::object()}};
    const auto folder = [&](const std::string& name) {
      const fs::path path = results_.path() / name;
      fs::create_directories(path);
      return path.string();
    };
    if (process == 0 && (mode.name == "fp32" || options_.processes > 1))
      orders["write_results"] = folder(label);
    if (process > 0)
      orders["compare_with"]["process_distance"] = folder(label);
    if (process == 0 && mode.flags.contains("autocast") && mode.name != "fp32")
      orders["compare_with"]["precision"] = folder("fp32");
    return orders;
  }

  /// Gives back the cases that a crash kept from being replayed.
  std::vector<std::size_t> run_process(const Mode& mode, int process, const std::vector<std::size_t>& group,
                                       std::vector<json>& results) {
    const RunDirectory directory;
    write_settings(directory.path(), {{"REPROBE_ROUNDS", std::to_string(options_.rounds)},
                                      {"REPROBE_BUDGET_SECONDS", fmt::format("{}", options_.seconds_per_case)},
                                      {"REPROBE_MEMORY_BYTES", std::to_string(options_.memory_bytes)}});
    write_lines(directory.path() / "replay", {orders(mode, process, group).dump()});
    const std::vector<std::string>& command = cases_[group.front()].command;
    int status = 0;
    std::string failure;
    try {
      const fs::path program = find_program(command.front());
      const Obstacle obstacle = obstacle_to_observing(program);
      if (!obstacle.reason.empty())
        throw Error("the case cannot be replayed in it", program, obstacle.reason, {}, kCouldNot);
      status = launch::run(program, command, observed_environment(directory.path(), {{"REPROBE_REPLAY", "1"}}),
                           directory.path() / "output");
    } catch (const Error& error) {
      failure = error.what();
    }
    std::optional<std::size_t> interrupted;
    bool ended = false;
    read_journals(directory.path(), results, interrupted, ended);
    std::vector<std::size_t> left;
    for (const std::size_t i : group)
      if (results[i].is_null() && i != interrupted)
        left.push_back(i);
    if (interrupted && results[*interrupted].is_null())
      results[*interrupted] = refusal(describe_crash(status));
    if (ended || !interrupted) {
      if (failure.empty() && !left.empty())
        failure = why_nothing(directory.path(), command.front(), status);
      for (const std::size_t i : left)
        results[i] = refusal(failure);
      left.clear();
    }
    return left;
  }

  void read_journals(const fs::path& directory, std::vector<json>& results,
                     std::optional<std::size_t>& interrupted, bool& ended) {
    for (const auto& file : fs::directory_iterator(directory)) {
      if (file.path().filename().string().rfind("journal-", 0) != 0)
        continue;
      std::ifstream lines(file.path());
      for (std::string text; std::getline(lines, text);) {
        const json line = json::parse(text, nullptr, false);
        if (!line.is_object())
          break; // cut off
        const std::string kind = text_at(line, "kind");
        if (kind == "end") {
          ended = true;
          interrupted.reset();
        } else if (kind == "remark") {
          remark(text_at(line, "text"));
        } else if (kind == "environment") {
          outcome_.environment = line.at("values");
        }
        const auto index = line.find("case");
        if (index == line.end() || !index->is_number_unsigned() || index->get<std::size_t>() >= results.size())
          continue;
        const std::size_t i = index->get<std::size_t>();
        if (kind == "replaying")
          interrupted = i;
        else if (kind == "replayed")
          results[i] = line;
        else if (kind == "kernels" && results[i].is_object())
          results[i]["kernels"] = line.at("names");
      }
    }
  }

  void remark(const std::string& text) {
    if (std::find(outcome_.remarks.begin(), outcome_.remarks.end(), text) == outcome_.remarks.end())
      outcome_.remarks.push_back(text);
  }

  std::string describe_crash(int status) const {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
      return "re-executing it took longer than the time budget of a case";
    if (WIFSIGNALED(status))
      return fmt::format("re-executing it crashed its process (signal {}, {})", WTERMSIG(status),
                         ::strsignal(WTERMSIG(status)));
    return fmt::format("re-executing it ended its process (exit code {})", WEXITSTATUS(status));
  }

  static std::string why_nothing(const fs::path& directory, const std::string& program, int status) {
    std::ifstream processes(directory / "processes");
    for (std::string line; std::getline(processes, line);)
      if (const auto mark = line.find("\tnot-observed\t"); mark != std::string::npos)
        return fmt::format("{} could not replay it: {}", program, line.substr(mark + 14));
    if (WIFSIGNALED(status))
      return fmt::format("{} was killed by signal {} ({}) before it could replay anything", program,
                         WTERMSIG(status), ::strsignal(WTERMSIG(status)));
    return fmt::format("{} ended with exit code {} before it could replay anything", program,
                       WEXITSTATUS(status));
  }

  /// Joins what several processes gave under one mode.
  void conclude(Case& one, const Mode& mode, std::vector<json>& results) {
    Measurement joined;
    report::ProcessCounts counts;
    std::set<std::string> all, first;
    std::string refused, thrown, dtype, device;
    std::vector<std::string> kernels, notes;
    std::optional<report::PrecisionDistance> precision, between;
    std::uint32_t rounds = 0;
    bool same_machine = true;
    for (const json& line : results) {
      const std::string verdict = text_at(line, "verdict");
      if (verdict == "throws" || verdict == "not-examined") {
        (verdict == "throws" ? thrown : refused) = text_at(line, "reason");
        continue;
      }
      Measurement read;
      read_measurement(line, read);
      rounds += read.rounds;
      ++counts.count;
      counts.within = std::max(counts.within, read.distinct);
      counts.as_program += line.at("as_program").get<bool>();
      same_machine = same_machine && line.at("same_machine").get<bool>();
      const auto hashes = line.at("results").get<std::vector<std::string>>();
      first.insert(hashes.front());
      all.insert(hashes.begin(), hashes.end());
      if (line.contains("kernels"))
        kernels = line["kernels"].get<std::vector<std::string>>();
      if (const std::string warning = text_at(line, "warning"); !warning.empty() && notes.empty())
        notes.push_back("warned: " + warning);
      read_distance(line, "precision", precision, notes);
      read_distance(line, "process_distance", between, notes);
      device = text_at(line, "device");
      if (counts.count == 1 || read.distinct > joined.distinct)
        joined = std::move(read);
    }
    for (const report::MeasuredOutput& output : joined.outputs)
      if (dtype.empty()) // of the first that is there
        dtype = output.dtype;
    counts.distinct = static_cast<std::uint32_t>(first.size());
    if (counts.count == 0) {
      joined.verdict = mode.name.empty() || thrown.empty() ? "not-examined" : "throws";
      joined.reason = thrown.empty() ? refused : mode.name.empty() ? "re-executing it failed: " + thrown : thrown;
    } else {
      joined.rounds = rounds;
      joined.distinct = static_cast<std::uint32_t>(all.size());
      if (joined.verdict == "stable" && joined.distinct > 1) {
        joined.verdict = "varies";
        joined.blamed = true;
        notes.push_back("each process agrees with itself, and processes differ (another algorithm was chosen)");
        if (between)
          add_distance(joined, *between);
      }
      if (!thrown.empty() || !refused.empty())
        notes.push_back(fmt::format("{} of {} processes gave nothing: {}", results.size() - counts.count,
                                    results.size(), thrown.empty() ? refused : thrown));
    }
    if (mode.flags.contains("autocast"))
      if (const std::string note = cast_before(one.header); !note.empty())
        notes.push_back(note);
    for (const std::string& note : notes)
      joined.reason += (joined.reason.empty() ? "" : "; ") + note;
    if (mode.name.empty()) {
      conclude_recorded(one, joined, counts, same_machine, kernels, device);
      return;
    }
    MeasuredMode measured;
    measured.name = mode.name;
    measured.verdict = joined.verdict;
    measured.reason = joined.reason;
    measured.dtype = dtype;
    measured.rounds = joined.rounds;
    measured.distinct = joined.distinct;
    measured.differing_share = joined.differing_share;
    measured.max_ulp = joined.max_ulp;
    measured.max_absolute = joined.max_absolute;
    measured.max_relative = joined.max_relative;
    measured.microseconds = joined.microseconds;
    measured.kernels = std::move(kernels);
    measured.precision = precision;
    if (options_.processes > 1 && counts.count > 0)
      measured.processes = counts;
    one.entry->modes.push_back(std::move(measured));
  }

  static void read_distance(const json& line, const char* key, std::optional<report::PrecisionDistance>& into,
                            std::vector<std::string>& notes) {
    const auto found = line.find(key);
    if (found == line.end())
      return;
    if (const std::string reason = text_at(*found, "reason"); !reason.empty()) {
      notes.push_back(reason);
      return;
    }
    const auto number = [&](const char* name) {
      const json& value = found->at(name);
      return value.is_string() ? std::numeric_limits<double>::infinity() : value.get<double>();
    };
    if (!into)
      into.emplace();
    into->differing_share = std::max(into->differing_share, number("differing_share"));
    into->max_ulp = std::max(into->max_ulp, number("max_ulp"));
    into->max_absolute = std::max(into->max_absolute, number("max_absolute"));
    into->max_relative = std::max(into->max_relative, number("max_relative"));
  }

  static void add_distance(Measurement& to, const report::PrecisionDistance& distance) {
    to.differing_share = std::max(to.differing_share, distance.differing_share);
    to.max_ulp = std::max(to.max_ulp, distance.max_ulp);
    to.max_absolute = std::max(to.max_absolute, distance.max_absolute);
    to.max_relative = std::max(to.max_relative, distance.max_relative);
  }

  /// An entry that the program's own run has measured already keeps that, unless only fresh processes show that it
  /// varies.
  void conclude_recorded(Case& one, Measurement& joined, const report::ProcessCounts& counts, bool same_machine,
                         const std::vector<std::string>& kernels, const std::string& device) {
    Measurement& entry = *one.entry;
    const bool measured_before = entry.verdict != "not-examined";
    const bool unlike_program = joined.verdict == "stable" && counts.as_program == 0;
    entry.kernels = kernels;
    if (!device.empty())
      entry.device = device;
    if (counts.count > 0)
      entry.processes = counts;
    const std::string unlike = fmt::format(
        "{} re-executions in {} fresh {} agree with each other but not with the program's own result",
        joined.rounds, counts.count, counts.count == 1 ? "process" : "processes");
    if (measured_before && (counts.count == 0 || joined.verdict == "stable" || entry.verdict == "varies")) {
      const std::string note = counts.count == 0 ? "fresh processes: " + joined.reason : unlike_program ? unlike : "";
      if (!note.empty())
        entry.reason += (entry.reason.empty() ? "" : "; ") + note;
      return;
    }
    entry.verdict = joined.verdict;
    entry.reason = joined.reason;
    entry.rounds = joined.rounds;
    entry.distinct = joined.distinct;
    entry.blamed = joined.blamed;
    entry.microseconds = joined.microseconds;
    entry.differing_share = joined.differing_share;
    entry.max_ulp = joined.max_ulp;
    entry.max_absolute = joined.max_absolute;
    entry.max_relative = joined.max_relative;
    entry.outputs = std::move(joined.outputs);
    if (!unlike_program)
      return;
    if (same_machine) {
      entry.verdict = "not-examined";
      entry.reason = "replay not faithful: " + unlike;
      entry.rounds = entry.distinct = 0;
      entry.outputs.clear();
    } else {
      entry.reason += (entry.reason.empty() ? "" : "; ") +
                      std::string("the program's own result, on ") +
                      text_at(one.header["machine"], "device_name") + " with LibTorch " +
                      text_at(one.header["machine"], "libtorch") + ", was another";
    }
  }

  const ReplayOptions& options_;
  std::vector<Case> cases_;
  RunDirectory results_;
  ReplayOutcome outcome_;
};

std::string where(const Measurement& entry) {
  return entry.file.empty() ? entry.function.empty() ? "unknown place" : entry.function
                            : fmt::format("{}:{}", entry.file, entry.line);
}

std::string distance_text(const MeasuredMode& mode) {
  if (mode.verdict == "throws" || mode.verdict == "not-examined")
    return (mode.verdict == "throws" ? "throws: " : "not examined: ") + mode.reason;
  Measurement as_entry;
  as_entry.verdict = mode.verdict;
  as_entry.rounds = mode.rounds;
  as_entry.distinct = mode.distinct;
  as_entry.differing_share = mode.differing_share;
  as_entry.max_ulp = mode.max_ulp;
  as_entry.max_absolute = mode.max_absolute;
  as_entry.max_relative = mode.max_relative;
  std::string text = mode.verdict == "stable" ? fmt::format("{} identical results", mode.rounds)
                                              : report::distance_of(as_entry);
  if (mode.precision)
    text += fmt::format("; from fp32: {:.6g} ULP of {}, {:.3g} absolute, {:.3g} relative", mode.precision->max_ulp,
                        mode.dtype, mode.precision->max_absolute, mode.precision->max_relative);
  if (!mode.reason.empty())
    text += "; " + mode.reason;
  if (!mode.kernels.empty())
    text += fmt::format("; kernels: {}", fmt::join(mode.kernels, ", "));
  return text;
}

const MeasuredMode* find_mode(const Measurement& entry, const std::string& name) {
  for (const MeasuredMode& mode : entry.modes)
    if (mode.name == name)
      return &mode;
  return nullptr;
}

std::vector<fs::path> expand(const std::vector<fs::path>& cases) {
  std::vector<fs::path> files;
  for (const fs::path& path : cases) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const std::size_t before = files.size();
    for (const auto& file : fs::directory_iterator(path))
      if (file.path().extension() == ".case")
        files.push_back(file.path());
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end());
    if (files.size() == before)
      throw Error("nothing to replay", path, "the folder holds no .case file",
                  "write some with `reprobe run --save-case " + path.string() + " -- PROGRAM`");
  }
  return files;
}

} // namespace

ReplayOutcome replay_into(std::vector<Measurement>& entries, const ReplayOptions& options) {
  return Replayer(entries, options).run();
}

Measurement entry_of_case(const fs::path& path) {
  Measurement entry;
  entry.verdict = "not-examined";
  entry.case_file = path.string();
  try {
    const json header = op::read_case_header(path.string(), op::kCaseSchema);
    entry.op = header.at("operator");
    entry.overload = header.at("overload");
    entry.signature = header.at("signature");
    entry.direction = header.at("direction");
    entry.backward_node = header.at("backward_node");
    entry.device = header.at("device");
    entry.path = header.at("path").get<std::vector<std::string>>();
    if (const auto source = header.find("source"); source != header.end()) {
      entry.file = source->at("file");
      entry.line = source->at("line");
      entry.function = source->at("function");
    }
    const json& flags = header.at("flags");
    const json& autocast = flags.at("autocast").at(entry.device.rfind("cuda", 0) == 0 ? "cuda" : "cpu");
    entry.mode["autocast"] = autocast.at("enabled").get<bool>() ? autocast.at("dtype") : json("none");
    entry.mode["strict"] = flags.at("deterministic_algorithms");
    for (const char* flag : {"warn_only", "cudnn_benchmark", "cudnn_deterministic", "grad"})
      entry.mode[flag] = flags.at(flag);
    if (entry.op.empty() || (entry.direction != "forward" && entry.direction != "backward"))
      throw op::FileProblem{"its header makes no sense"};
  } catch (const op::FileProblem& problem) {
    entry.reason = "the case cannot be used: " + problem.reason;
  } catch (const json::exception& error) {
    entry.reason = std::string("the case cannot be used: its header makes no sense: ") + error.what();
  }
  if (!entry.reason.empty()) {
    Measurement bare;
    bare.verdict = entry.verdict;
    bare.reason = entry.reason;
    bare.op = entry.op.empty() ? "unknown" : entry.op;
    bare.case_file = entry.case_file;
    return bare;
  }
  return entry;
}

void complete_cases(std::vector<Measurement>& entries, const fs::path& directory,
                    std::vector<std::string>& remarks) {
  for (Measurement& entry : entries) {
    if (entry.case_file.empty())
      continue;
    const std::string path = (directory / entry.case_file).string();
    try {
      json header = op::read_case_header(path, op::kCaseSchema);
      header["source"] = {{"file", entry.file}, {"line", entry.line}, {"function", entry.function}};
      op::rewrite_case_header(path, header);
      entry.case_file = path;
    } catch (const op::FileProblem& problem) {
      remarks.push_back("case " + path + ": " + problem.reason);
      entry.case_file.clear();
    }
  }
}

std::vector<std::string> modes_text(const std::vector<Measurement>& entries) {
  constexpr std::size_t kShown = 20;
  std::vector<std::string> lines, throwing;
  std::vector<std::vector<std::string>> varying, agreeing; // lines of an operation under --amp
  std::size_t identical = 0, strict = 0;
  for (const Measurement& entry : entries) {
    const std::string name = report::name_of(entry) + " at " + where(entry);
    if (const MeasuredMode* on = find_mode(entry, "deterministic-on")) {
      ++strict;
      identical += on->verdict == "stable";
      if (on->verdict == "varies")
        lines.push_back("still varies under deterministic algorithms: " + name + ": " + distance_text(*on));
      else if (on->verdict != "stable")
        throwing.push_back("under deterministic algorithms " + name + " " + distance_text(*on));
    }
    if (!find_mode(entry, "fp32"))
      continue;
    std::vector<std::string> amp = {"modes of " + name + ":"};
    bool varies = false;
    for (const char* mode : {"fp32", "tf32", "autocast-float16", "autocast-bfloat16"})
      if (const MeasuredMode* found = find_mode(entry, mode)) {
        amp.push_back(fmt::format("  {:<18}{}", mode, distance_text(*found)));
        varies = varies || found->verdict == "varies";
      }
    (varies ? varying : agreeing).push_back(std::move(amp));
  }
  lines.insert(lines.end(), throwing.begin(), throwing.end());
  if (strict > 0)
    lines.push_back(fmt::format("under deterministic algorithms {} of {} operations gave identical results", identical,
                                strict));
  varying.insert(varying.end(), agreeing.begin(), agreeing.end());
  for (std::size_t i = 0; i < std::min(kShown, varying.size()); ++i)
    lines.insert(lines.end(), varying[i].begin(), varying[i].end());
  if (varying.size() > kShown)
    lines.push_back(fmt::format("and the modes of {} more operations in the measurements", varying.size() - kShown));
  return lines;
}

int replay(const ReplayCommand& command) {
  const auto refuse = [](const char* what, const std::string& why, const char* remedy) {
    throw Error(what, "reprobe replay", why, remedy, 2);
  };
  const ReplayOptions& options = command.options;
  if (options.rounds < 2)
    refuse("--rounds is too small", "one execution has nothing to be compared with", "give 2 or more");
  if (options.processes < 1 || options.processes > 1000)
    refuse("--processes is no number of processes", "each case needs one", "give 1 to 1000");
  if (!(options.seconds_per_case > 0) || options.seconds_per_case > 1e6)
    refuse("--budget is not a time", "nothing could be re-executed", "give seconds, more than 0");
  check_output(command.output);
  if (!fs::exists(library_directory() / "reprobe-replay"))
    throw Error("no case can be replayed", library_directory() / "reprobe-replay", "the helper is not there",
                "this build of Reprobe has no LibTorch half, or was moved", kCouldNot);
  report::Measurements measurements;
  for (const fs::path& path : expand(command.cases))
    measurements.entries.push_back(entry_of_case(path));
  const ReplayOutcome outcome = replay_into(measurements.entries, options);
  measurements.environment = environment::fingerprint();
  for (const auto& [key, value] : outcome.environment.items())
    measurements.environment[key] = value;
  measurements.program["remarks"] = outcome.remarks;
  measurements.program["budget"] = {{"rounds", options.rounds}, {"processes", options.processes}};
  report::write_file(command.output, report::to_json(measurements));
  std::size_t varying = 0, examined = 0;
  for (const Measurement& entry : measurements.entries) {
    varying += entry.verdict == "varies";
    examined += entry.verdict != "not-examined" ||
                std::any_of(entry.modes.begin(), entry.modes.end(),
                            [](const MeasuredMode& mode) { return mode.verdict != "not-examined"; });
    fmt::print("{} at {}: {}\n", report::name_of(entry), where(entry), report::distance_of(entry));
    if (entry.processes && entry.processes->count > 1)
      fmt::print("  {} processes: {} distinct first results, up to {} within one\n", entry.processes->count,
                 entry.processes->distinct, entry.processes->within);
  }
  for (const std::string& line : modes_text(measurements.entries))
    fmt::print("{}\n", line);
  for (const std::string& remark : outcome.remarks)
    fmt::print("note: {}\n", remark);
  fmt::print("{} of {} cases vary; measurements are in {}\n", varying, measurements.entries.size(),
             command.output.string());
  return examined == 0 ? kCouldNot : varying > 0 ? 1 : 0;
}

} // namespace reprobe::launch
