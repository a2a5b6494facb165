#include "analyzer/report/join.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <tuple>

namespace reprobe::report {

// Findings name files from the scan's root, measurements as the compiler or the current folder had them: one is
// the end of the other, whole path components at a time.
bool same_file(std::string_view left, std::string_view right) {
  const std::string_view longer = left.size() >= right.size() ? left : right, shorter = left.size() >= right.size() ? right : left;
  if (shorter.empty() || !longer.ends_with(shorter)) return false;
  return longer.size() == shorter.size() || longer[longer.size() - shorter.size() - 1] == '/';
}

namespace {

// aten::index_add_ is aten::index_add in place: the same operation to a reader.
std::string_view without_in_place_suffix(std::string_view op) {
  return op.ends_with('_') && !op.ends_with("__") ? op.substr(0, op.size() - 1) : op;
}

bool names_operator(const Finding& finding, const Measurement& entry) {
  const auto is_same = [&](const std::string& op) { return without_in_place_suffix(op) == without_in_place_suffix(entry.op); };
  return std::any_of(finding.operators.begin(), finding.operators.end(), is_same) ||
         (!entry.kernel.empty() && std::find(finding.kernels.begin(), finding.kernels.end(), entry.kernel) != finding.kernels.end());
}

bool in_range(const SourceRange& source, const Measurement& entry) {
  return entry.line >= source.line && entry.line <= std::max(source.line, source.end_line) && same_file(source.file, entry.file);
}

// What a call runs has other names than the call: aten::conv2d varies in aten::cudnn_convolution. Its callers carry
// the name that the finding knows.
bool reached_through(const Finding& finding, const Measurement& entry) {
  return std::any_of(entry.path.begin(), entry.path.end(), [&](const std::string& caller) {
    Measurement as_caller;
    as_caller.op = caller;
    return names_operator(finding, as_caller);
  });
}

// A finding inside an operator's own implementation names that operator: wherever the program calls it, it runs this line.
bool implements(const Finding& finding, const Measurement& entry) {
  return !entry.op.empty() && !entry.op.starts_with("aten::") && names_operator(finding, entry);
}

// A finding about the gradient is not refuted by the forward call.
bool in_its_direction(const Finding& finding, const Measurement& entry) {
  return (finding.direction != "forward" && finding.direction != "backward") || finding.direction == entry.direction;
}

bool is_about(const Finding& finding, const Measurement& entry) {
  return in_its_direction(finding, entry) && (names_operator(finding, entry) || reached_through(finding, entry));
}

bool joins(const Finding& finding, const Measurement& entry) {
  return implements(finding, entry) || (in_range(finding.source, entry) && is_about(finding, entry));
}

// "(anonymous namespace)::Net::forward(at::Tensor const&)" and "Net::forward" are one function to both halves.
std::string plain_function(std::string name) {
  static constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  for (std::size_t at; (at = name.find(kAnonymous)) != std::string::npos;) name.erase(at, kAnonymous.size());
  return name.substr(0, name.find_first_of("(["));
}

bool in_same_function(const Finding& finding, const Measurement& entry) {
  return entry.line != 0 && same_file(finding.source.file, entry.file) && !finding.function.empty() &&
         plain_function(finding.function) == plain_function(entry.function);
}

std::uint32_t line_distance(const Finding& finding, const Measurement& entry) {
  return entry.line > finding.source.line ? entry.line - finding.source.line : finding.source.line - entry.line;
}

// What is wrong on a GPU is neither shown nor refuted by the CPU, and the other way round.
bool on_its_device(const Finding& finding, const Measurement& entry) {
  const std::string device = entry.device.substr(0, entry.device.find(':'));
  return finding.devices.empty() || device.empty() ||
         std::find(finding.devices.begin(), finding.devices.end(), device) != finding.devices.end();
}

bool examined(const Measurement& entry) { return entry.verdict != "not-examined"; }

bool worse(const Measurement* left, const Measurement* right) {
  const auto key = [](const Measurement* entry) {
    return std::tuple(entry->verdict != "varies", !entry->blamed, -entry->differing_share, -entry->max_ulp);
  };
  return key(left) < key(right);
}

int rank_of(const std::string& severity) { return severity == "error" ? 0 : severity == "warning" ? 1 : 2; }

auto order_of(const Item& item) {
  const SourceRange at = item.finding ? item.finding->source
                         : SourceRange{item.measurements.front()->file, item.measurements.front()->line};
  return std::tuple(item.state, item.finding ? rank_of(item.finding->severity) : 0, at.file, at.line, at.column,
                    item.finding ? item.finding->rule : item.measurements.front()->op);
}

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string verdict_of(const Report& report, std::size_t findings, bool measured) {
  const auto count = [&](State state) {
    return std::count_if(report.items.begin(), report.items.end(), [&](const Item& item) { return item.state == state; });
  };
  if (!measured)
    return findings == 0 ? "Nothing was flagged; nothing was measured."
                         : fmt::format("{} flagged; nothing was measured.", counted(findings, "place"));
  std::string sentence = report.varying == 0
                             ? fmt::format("None of {} varied", counted(report.operations, "measured operation"))
                             : fmt::format("{} of {} varied", report.varying, counted(report.operations, "measured operation"));
  if (findings) {
    sentence += fmt::format("; of {} flagged, {} measured varying, {} measured stable, {} not run", counted(findings, "place"),
                            count(State::varies), count(State::stable), count(State::not_run));
  }
  if (const auto unflagged = count(State::varies_unflagged)) sentence += fmt::format("; {} varied without being flagged", unflagged);
  return sentence + ".";
}

void count_measurements(Report& report, const std::vector<Measurements>& all) {
  std::map<std::string, std::size_t> reasons;
  for (const Measurements& measurements : all) {
    for (const Measurement& entry : measurements.entries) {
      if (!examined(entry)) {
        ++report.not_examined;
        ++reasons[entry.reason];
        continue;
      }
      ++report.operations;
      ++(entry.verdict == "varies" ? report.varying : report.stable);
    }
    if (!measurements.complete) {
      report.complete = false;
      report.gaps.push_back("the measurements are partial: " +
                            (measurements.reason.empty() ? std::string("the program ended before they were done") : measurements.reason));
    }
  }
  report.not_examined_reasons.assign(reasons.begin(), reasons.end());
  std::stable_sort(report.not_examined_reasons.begin(), report.not_examined_reasons.end(),
                   [](const auto& left, const auto& right) { return left.second > right.second; });
}

void note_unexamined_files(Report& report, const Findings& findings) {
  for (const ExaminedFile& file : findings.examined) {
    if (file.status == "full") continue;
    if (file.status == "failed") report.complete = false;
    report.gaps.push_back(fmt::format("{} was {}: {}", file.file, file.status == "failed" ? "not scanned" : "scanned in part",
                                      file.reason));
  }
}

} // namespace

namespace {

void settle(Item& item) {
  std::stable_sort(item.measurements.begin(), item.measurements.end(), worse);
  if (item.measurements.empty()) return;
  item.state = item.measurements.front()->verdict == "varies" ? State::varies : State::stable;
  item.only_on.clear();
}

// Compilers put calls inside braced lists on another line of the function (GCC 12 and 13: its closing brace). What no
// finding claims by line goes to the nearest finding about that operator in the same function that is still open.
void join_by_function(std::vector<Item>& items, const std::vector<const Measurement*>& entries, std::vector<bool>& claimed) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (claimed[i]) continue;
    std::vector<Item*> nearest;
    for (Item& item : items) {
      const Finding& finding = *item.finding;
      if (item.state != State::not_run || finding.direction.empty() || !in_same_function(finding, *entries[i]) || !is_about(finding, *entries[i]) ||
          !on_its_device(finding, *entries[i]))
        continue;
      const auto distance = line_distance(finding, *entries[i]);
      const auto best = nearest.empty() ? distance : line_distance(*nearest.front()->finding, *entries[i]);
      if (distance < best) nearest.clear();
      if (distance <= best) nearest.push_back(&item);
    }
    for (Item* item : nearest) item->measurements.push_back(entries[i]);
    claimed[i] = !nearest.empty();
  }
  for (Item& item : items) settle(item);
}

} // namespace

Report join(const Findings* findings, const std::vector<Measurements>& all) {
  Report report;
  count_measurements(report, all);
  std::vector<const Measurement*> unclaimed;
  for (const Measurements& measurements : all)
    for (const Measurement& entry : measurements.entries)
      if (examined(entry)) unclaimed.push_back(&entry);
  std::vector<bool> claimed(unclaimed.size());

  if (findings) {
    note_unexamined_files(report, *findings);
    for (const Finding& finding : findings->findings) {
      Item item{State::not_run, &finding, {}};
      for (std::size_t i = 0; i < unclaimed.size(); ++i) {
        if (!joins(finding, *unclaimed[i])) continue;
        if (!on_its_device(finding, *unclaimed[i])) {
          item.only_on = unclaimed[i]->device;
          continue;
        }
        item.measurements.push_back(unclaimed[i]);
        claimed[i] = true;
      }
      settle(item);
      report.items.push_back(std::move(item));
    }
    join_by_function(report.items, unclaimed, claimed);
  }
  for (std::size_t i = 0; i < unclaimed.size(); ++i) {
    const Measurement& entry = *unclaimed[i];
    // A caller varies because the operator to blame does: one line for both.
    if (!claimed[i] && entry.verdict == "varies" && entry.blamed) report.items.push_back({State::varies_unflagged, nullptr, {&entry}});
  }
  std::stable_sort(report.items.begin(), report.items.end(),
                   [](const Item& left, const Item& right) { return order_of(left) < order_of(right); });
  report.verdict = verdict_of(report, findings ? findings->findings.size() : 0, !all.empty());
  return report;
}

double differing_rate_bound(unsigned rounds) { return rounds == 0 ? 1.0 : 1.0 - std::pow(0.05, 1.0 / rounds); }

std::string_view title_of(State state) {
  switch (state) {
  case State::varies: return "flagged, and measured varying";
  case State::varies_unflagged: return "measured varying, not flagged";
  case State::not_run: return "flagged, not measured";
  case State::stable: return "flagged, measured stable";
  }
  return "";
}

std::string place_of(const Item& item) {
  if (item.finding) return fmt::format("{}:{}", item.finding->source.file, item.finding->source.line);
  const Measurement& entry = *item.measurements.front();
  if (entry.line) return fmt::format("{}:{}", entry.file, entry.line);
  return entry.function.empty() ? "(no source line)" : entry.function;
}

std::string name_of(const Measurement& entry) {
  std::string name = entry.kernel.empty() ? entry.op : entry.kernel;
  if (entry.direction != "backward") return name;
  return name + (entry.backward_node.empty() ? " (backward)" : " (in " + entry.backward_node + ")");
}

std::string other_line_of(const Finding& finding, const Measurement& entry) {
  if (entry.line == 0 || in_range(finding.source, entry) || !in_same_function(finding, entry)) return {};
  return fmt::format(" [line {} in the program's line table]", entry.line);
}

std::string distance_of(const Measurement& entry) {
  if (entry.verdict == "not-examined") return "not examined: " + entry.reason;
  if (entry.verdict == "stable")
    return fmt::format("{} identical results (differs in fewer than {:.0f} % of executions, at 95 % confidence)", entry.rounds,
                       std::ceil(100 * differing_rate_bound(entry.rounds)));
  std::string text = fmt::format("{} distinct results in {} rounds, {:.3g} % of elements differ", entry.distinct, entry.rounds,
                                 100 * entry.differing_share);
  if (entry.max_ulp > 0) text += fmt::format(", up to {:.6g} ULP", entry.max_ulp);
  text += fmt::format(", {:.3g} absolute, {:.3g} relative", entry.max_absolute, entry.max_relative);
  std::uint64_t nans = 0, infinities = 0;
  std::size_t index_outputs = 0, reordered = 0;
  for (const MeasuredOutput& output : entry.outputs) {
    nans += output.nan_mismatches;
    infinities += output.infinity_mismatches;
    index_outputs += output.same_values.has_value();
    reordered += output.same_values.value_or(false);
  }
  if (nans) text += fmt::format(", NaN in one result and a number in another for up to {} elements", nans);
  if (infinities) text += fmt::format(", infinite in one and not in another for up to {}", infinities);
  if (reordered) text += reordered == index_outputs ? ", indices the same in another order" : ", some indices the same in another order";
  return text;
}

namespace {

// CUDA counts 13000 for 13.0, cuDNN 91900 for 9.19.0 (8907 for 8.9.7 before version 9).
std::string cuda_version(std::int64_t version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }
std::string cudnn_version(std::int64_t version) {
  const std::int64_t major = version >= 90000 ? 10000 : 1000;
  return fmt::format("{}.{}.{}", version / major, version % major / 100, version % 100);
}

std::string text_at(const nlohmann::json& environment, const char* key) {
  const auto found = environment.find(key);
  return found != environment.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string processor_of(const nlohmann::json& environment) {
  const std::string device = text_at(environment, "device");
  if (!device.empty()) return device;
  const auto in_use = environment.find("cuda_in_use");
  const auto gpus = environment.find("gpus");
  if (in_use != environment.end() && *in_use == true && gpus != environment.end() && gpus->is_array() && !gpus->empty() &&
      gpus->front().is_string())
    return gpus->front().get<std::string>() + (gpus->size() > 1 ? fmt::format(" (one of {})", gpus->size()) : "");
  return text_at(environment, "cpu");
}

} // namespace

std::string environment_line(const Measurements& measurements) {
  const nlohmann::json& environment = measurements.environment;
  if (!environment.is_object()) return "environment not recorded";
  std::string line = processor_of(environment);
  const auto add = [&](const std::string& label, const std::string& text) {
    if (!text.empty()) line += (line.empty() ? "" : ", ") + label + text;
  };
  const auto add_version = [&](const char* key, const char* label, std::string (*format)(std::int64_t)) {
    const auto found = environment.find(key);
    if (found != environment.end() && found->is_number_integer() && found->get<std::int64_t>() > 0)
      add(label, format(found->get<std::int64_t>()));
  };
  add("LibTorch ", text_at(environment, "libtorch"));
  add_version("cuda_runtime", "CUDA ", cuda_version);
  add_version("cudnn", "cuDNN ", cudnn_version);
  if (environment.value("cuda_in_use", nlohmann::json(false)) == true) add("driver ", text_at(environment, "driver"));
  return line.empty() ? "environment not recorded" : line;
}

} // namespace reprobe::report
