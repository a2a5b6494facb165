// The joined report as one self-contained HTML page and as JSON ("reprobe-report/1").
#include "analyzer/report/join.h"
#include "analyzer/report/json_access.h"

#include <fmt/format.h>

namespace reprobe::report {
namespace {

// Everything that comes from the program or its source goes through here.
std::string escaped(const std::string& text) { return escape_markup(printable(text)); }

std::string_view key_of(State state) {
  switch (state) {
  case State::varies: return "varies";
  case State::varies_unflagged: return "varies-not-flagged";
  case State::not_run: return "not-run";
  case State::stable: return "stable";
  }
  return "";
}

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --line: #8884; --bad: #b3261e; --open: #8a5a00; --good: #1b6e3c; }
@media (prefers-color-scheme: dark) { :root { --bad: #ff8a80; --open: #ffca6b; --good: #7ddf9f; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .4rem .6rem;
border-bottom: 1px solid var(--line); overflow-wrap: anywhere; } code { font-size: .9em; }
th { white-space: nowrap; } .varies, .varies-not-flagged { color: var(--bad); } .not-run { color: var(--open); } .stable { color: var(--good); }
.fix { margin-top: .3rem; } .signature { opacity: .7; font-size: .85em; }
)";

std::string measurement_html(const Measurement& entry, const Finding* finding) {
  return fmt::format("<div>{}{}{}<div class=\"signature\"><code>{}</code></div></div>",
                     finding ? "<code>" + escaped(name_of(entry)) + "</code>: " : "", escaped(distance_of(entry)),
                     finding ? escaped(other_line_of(*finding, entry)) : "",
                     escaped(entry.signature));
}

std::string row_html(const Item& item) {
  std::string row = fmt::format("<tr><th scope=\"row\"><code>{}</code></th><td>", escaped(place_of(item)));
  if (item.finding) {
    row += fmt::format("<div>{} <code>[{}]</code></div>", escaped(item.finding->message), escaped(item.finding->rule));
    for (const Note& note : item.finding->notes)
      row += fmt::format("<div class=\"signature\"><code>{}:{}</code> {}</div>", escaped(note.source.file), note.source.line,
                         escaped(note.message));
    if (!item.finding->fix.empty()) row += fmt::format("<div class=\"fix\">Fix: {}</div>", escaped(item.finding->fix));
  } else {
    row += fmt::format("<code>{}</code>", escaped(name_of(*item.measurements.front())));
  }
  row += "</td><td>";
  for (const Measurement* entry : item.measurements) row += measurement_html(*entry, item.finding);
  if (item.measurements.empty())
    row += item.only_on.empty() ? "not measured" : "measured on " + escaped(item.only_on) + " only, which this is not about";
  return row + "</td></tr>\n";
}

Json to_object(const Item& item) {
  Json object{{"state", key_of(item.state)}, {"place", place_of(item)}};
  if (item.finding) {
    object["rule"] = item.finding->rule;
    object["severity"] = item.finding->severity;
    object["message"] = item.finding->message;
    object["fix"] = item.finding->fix;
    object["source"] = {{"file", item.finding->source.file}, {"line", item.finding->source.line}};
  }
  object["measurements"] = Json::array();
  for (const Measurement* entry : item.measurements) {
    object["measurements"].push_back({{"operator", entry->kernel.empty() ? entry->op : entry->kernel},
                                      {"signature", entry->signature},
                                      {"source", {{"file", entry->file}, {"line", entry->line}}},
                                      {"direction", entry->direction},
                                      {"device", entry->device},
                                      {"verdict", entry->verdict},
                                      {"rounds", entry->rounds},
                                      {"distinct", entry->distinct},
                                      {"differing_share", number_or_special(entry->differing_share)},
                                      {"max_ulp", number_or_special(entry->max_ulp)},
                                      {"max_absolute", number_or_special(entry->max_absolute)},
                                      {"max_relative", number_or_special(entry->max_relative)}});
  }
  return object;
}

} // namespace

std::string render_html(const Report& report, const std::vector<Measurements>& all) {
  std::string page = fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
                                 "<meta name=\"viewport\" content=\"width=device-width\"><title>Reprobe report</title>"
                                 "<style>{}</style></head><body>\n<h1>{}</h1>\n",
                                 kStyle, escaped(report.verdict));
  for (const Measurements& measurements : all) page += fmt::format("<p>{}</p>\n", escaped(environment_line(measurements)));
  for (const State state : {State::varies, State::varies_unflagged, State::not_run, State::stable}) {
    std::string rows;
    for (const Item& item : report.items)
      if (item.state == state) rows += row_html(item);
    if (rows.empty()) continue;
    page += fmt::format("<h2 class=\"{0}\">{1}</h2>\n<table><thead><tr><th scope=\"col\">Where</th><th scope=\"col\">What</th>"
                        "<th scope=\"col\">Measured</th></tr></thead><tbody>\n{2}</tbody></table>\n",
                        key_of(state), title_of(state), rows);
  }
  if (!all.empty()) {
    page += fmt::format("<h2>not examined</h2>\n<p>{} of {} operations.</p>\n<ul>\n", report.not_examined,
                        report.operations + report.not_examined);
    for (const auto& [reason, count] : report.not_examined_reasons)
      page += fmt::format("<li>{}: {}</li>\n", count, escaped(reason));
    page += "</ul>\n";
  }
  for (const std::string& gap : report.gaps) page += fmt::format("<p><strong>Incomplete:</strong> {}</p>\n", escaped(gap));
  return page + "</body></html>\n";
}

std::string render_json(const Report& report, const std::vector<Measurements>& all) {
  Json document{{"schema", "reprobe-report/1"}, {"complete", report.complete}, {"verdict", report.verdict}};
  document["environment"] = Json::array();
  for (const Measurements& measurements : all) document["environment"].push_back(Json(measurements.environment));
  document["counts"] = {{"operations", report.operations},
                        {"varying", report.varying},
                        {"stable", report.stable},
                        {"not_examined", report.not_examined}};
  document["items"] = Json::array();
  for (const Item& item : report.items) document["items"].push_back(to_object(item));
  document["not_examined"] = Json::array();
  for (const auto& [reason, count] : report.not_examined_reasons)
    document["not_examined"].push_back({{"reason", reason}, {"count", count}});
  document["gaps"] = report.gaps;
  return dump(document);
}

} // namespace reprobe::report
