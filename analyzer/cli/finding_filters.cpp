#include "analyzer/cli/finding_filters.h"

#include "analyzer/report/json_access.h"

#include <algorithm>
#include <array>
#include <fnmatch.h>
#include <optional>
#include <regex.h>
#include <set>

namespace reprobe::cli {
namespace {

using report::Finding;
using report::Json;

class Expression {
public:
  Expression(const std::string& text, const char* option) {
    const int failed = ::regcomp(&compiled_, text.c_str(), REG_EXTENDED | REG_NOSUB);
    if (failed == 0)
      return;
    std::array<char, 200> why{};
    ::regerror(failed, &compiled_, why.data(), why.size());
    throw Error("is no regular expression", option, text + ": " + why.data());
  }
  Expression(const Expression&) = delete;
  Expression& operator=(const Expression&) = delete;
  ~Expression() { ::regfree(&compiled_); }
  bool matches(const std::string& text) const {
    return ::regexec(&compiled_, text.c_str(), 0, nullptr, 0) == 0;
  }

private:
  regex_t compiled_{};
};

std::uint32_t line_number(const Json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > 0xffffffffu)
    throw Error("is not in the expected form", "--line-filter", "lines are pairs of whole numbers from 1");
  return value.get<std::uint32_t>();
}

bool has_line(const FileLines& file, std::uint32_t line) {
  return file.lines.empty() || std::any_of(file.lines.begin(), file.lines.end(), [&](const auto& range) {
           return range.first <= line && line <= range.second;
         });
}

bool is_wanted(const std::vector<FileLines>& wanted, const Finding& finding) {
  return wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&](const FileLines& file) {
           return finding.source.file.ends_with(file.name) && has_line(file, finding.source.line);
         });
}

// Files that were parsed for themselves are no headers, whatever their names.
class Headers {
public:
  Headers(const FindingFilters& filters, const report::Findings& findings) : root_(findings.root) {
    for (const report::ExaminedFile& file : findings.examined)
      main_files_.insert(file.file);
    if (!filters.headers.empty())
      wanted_.emplace(filters.headers, "--header-filter");
    if (!filters.excluded_headers.empty())
      unwanted_.emplace(filters.excluded_headers, "--exclude-header-filter");
  }
  bool leave_out(const Finding& finding) const {
    if (main_files_.contains(finding.source.file))
      return false;
    const std::string path = (root_ / finding.source.file).generic_string();
    return (wanted_ && !wanted_->matches(path)) || (unwanted_ && unwanted_->matches(path));
  }

private:
  std::filesystem::path root_;
  std::set<std::string> main_files_;
  std::optional<Expression> wanted_, unwanted_;
};

int rank(const std::string& confidence) {
  return confidence == "high" ? 2 : confidence == "medium" ? 1 : 0;
}

} // namespace

bool is_listed(const std::vector<std::string>& globs, const std::string& rule) {
  bool listed = false;
  for (const std::string& glob : globs) {
    const bool takes_out = glob.starts_with('-');
    if (::fnmatch(glob.c_str() + takes_out, rule.c_str(), 0) == 0)
      listed = !takes_out;
  }
  return listed;
}

std::vector<FileLines> parse_line_filter(const std::string& text) {
  const Json document = report::parse_json(text, "--line-filter");
  const char* form = R"(as in [{"name": "a.cpp", "lines": [[1, 3]]}])";
  if (!document.is_array())
    throw Error("is not in the expected form", "--line-filter", "a list is needed", form);
  std::vector<FileLines> files;
  for (const Json& item : document) {
    if (!item.is_object() || !item.contains("name") || !item["name"].is_string() ||
        item["name"].get_ref<const std::string&>().empty())
      throw Error("is not in the expected form", "--line-filter", "each item needs a \"name\"", form);
    FileLines& file = files.emplace_back();
    file.name = item["name"].get<std::string>();
    for (const Json& range : item.value("lines", Json::array())) {
      if (!range.is_array() || range.size() != 2)
        throw Error("is not in the expected form", "--line-filter", "\"lines\" are pairs", form);
      file.lines.emplace_back(line_number(range[0]), line_number(range[1]));
    }
  }
  return files;
}

Filtered apply(const FindingFilters& filters, report::Findings& findings) {
  const Headers headers(filters, findings);
  Filtered filtered;
  const auto drop = [&](std::vector<Finding>& list, Filtered& count) {
    std::erase_if(list, [&](const Finding& finding) {
      std::size_t* reason = !is_wanted(filters.lines, finding)                    ? &count.by_lines
                            : headers.leave_out(finding)                          ? &count.by_headers
                            : rank(finding.confidence) < rank(filters.confidence) ? &count.by_confidence
                                                                                  : nullptr;
      if (reason)
        ++*reason;
      return reason != nullptr;
    });
  };
  drop(findings.findings, filtered);
  Filtered ignored;
  drop(findings.suppressed, ignored);
  for (Finding& finding : findings.findings)
    if (is_listed(filters.errors, finding.rule))
      finding.severity = "error";
  return filtered;
}

} // namespace reprobe::cli
