// The joined report for a terminal.
#include "analyzer/report/join.h"
#include "analyzer/report/palette.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::report {
namespace {

const char* color_of(State state) {
  return state == State::stable ? "1;32" : state == State::not_run ? "1;33" : "1;31";
}

void append_section(std::string& text, const Report& report, State state, const Palette& palette) {
  const auto count = std::count_if(report.items.begin(), report.items.end(), [&](const Item& item) { return item.state == state; });
  if (count == 0) return;
  text += palette.paint(color_of(state), fmt::format("{} ({})", title_of(state), count)) + "\n";
  constexpr std::size_t kShown = 3; // measurements a finding: the rest is in the JSON
  for (const Item& item : report.items) {
    if (item.state != state) continue;
    text += "  " + palette.bold(printable(place_of(item)));
    if (item.finding) {
      text += fmt::format("  {} [{}]\n", printable(item.finding->message), item.finding->rule);
    } else {
      const Measurement& entry = *item.measurements.front();
      text += "  " + printable(name_of(entry)) + (entry.device.empty() ? "" : " on " + printable(entry.device)) + "\n";
    }
    std::size_t shown = 0;
    for (const Measurement* entry : item.measurements) {
      if (shown++ == kShown) {
        text += fmt::format("      and {} more at this line\n", item.measurements.size() - kShown);
        break;
      }
      text += fmt::format("      {}{}{}\n", item.finding ? printable(name_of(*entry)) + ": " : "", distance_of(*entry),
                          item.finding ? other_line_of(*item.finding, *entry) : "");
      text += palette.faint(fmt::format("      {}\n", printable(entry->signature)));
    }
    if (!item.only_on.empty()) text += fmt::format("      measured on {} only, which this is not about\n", printable(item.only_on));
    if (item.finding && !item.finding->fix.empty()) text += fmt::format("      fix: {}\n", printable(item.finding->fix));
  }
  text += "\n";
}

} // namespace

std::string render_text(const Report& report, const std::vector<Measurements>& all, bool color) {
  const Palette palette(color);
  std::string text = palette.bold(report.verdict) + "\n";
  for (const Measurements& measurements : all) text += printable(environment_line(measurements)) + "\n";
  text += "\n";
  for (const State state : {State::varies, State::varies_unflagged, State::not_run, State::stable})
    append_section(text, report, state, palette);
  if (!all.empty()) {
    text += fmt::format("measured: {} operations; {} varied, {} stable; {} not examined\n", report.operations, report.varying,
                        report.stable, report.not_examined);
    for (const auto& [reason, count] : report.not_examined_reasons)
      text += fmt::format("  {:6} not examined: {}\n", count, printable(reason));
  }
  for (const std::string& gap : report.gaps) text += "incomplete: " + printable(gap) + "\n";
  return text;
}

} // namespace reprobe::report
