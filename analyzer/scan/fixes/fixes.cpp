#include "analyzer/scan/fixes/fixes.h"

#include "analyzer/scan/facts/paths.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <yaml-cpp/yaml.h>

namespace reprobe::scan {
namespace fs = std::filesystem;

namespace {

std::optional<std::string> text_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error))
    return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return in ? std::optional(text.str()) : std::nullopt;
}

std::string digest_of(const std::string& text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

std::string place(const report::Finding& finding) {
  return fmt::format("{}:{}: {}", finding.source.file, finding.source.line, finding.rule);
}

// The files that replacements speak of, and which of their bytes are taken.
class Planner {
public:
  explicit Planner(const fs::path& root) : root_(real_path(root)) {}

  void add(std::size_t index, const report::Finding& finding) {
    for (const report::Replacement& replacement : finding.replacements)
      if (const std::string problem = why_not(replacement); !problem.empty()) {
        fixes_.refusals.push_back(place(finding) + " is left as it is: " + problem);
        return;
      }
    for (const report::Replacement& replacement : finding.replacements)
      files_.at(replacement.source.file).taken.emplace(replacement.offset, replacement);
    fixes_.mended.push_back(index);
  }

  Fixes finish() {
    for (const auto& [name, file] : files_)
      if (!file.taken.empty())
        fixes_.files.push_back({file.path, name, file.text, mended(file)});
    return std::move(fixes_);
  }

private:
  struct File {
    fs::path path;
    std::string text, problem;
    std::map<std::uint32_t, report::Replacement> taken; // by offset
  };

  static std::string mended(const File& file) {
    std::string out;
    std::size_t done = 0;
    for (const auto& [offset, replacement] : file.taken) {
      out.append(file.text, done, offset - done);
      out += replacement.after;
      done = offset + replacement.length;
    }
    return out.append(file.text, done);
  }

  File& file_of(const report::Replacement& replacement) {
    const auto [found, fresh] = files_.try_emplace(replacement.source.file);
    File& file = found->second;
    if (!fresh)
      return file;
    file.path = real_path(root_ / replacement.source.file);
    if (!lies_below(file.path, root_))
      file.problem = "its file lies outside " + root_.string();
    else if (const auto text = text_of(file.path))
      file.text = *text;
    else
      file.problem = "its file cannot be read";
    if (file.problem.empty() && digest_of(file.text) != replacement.digest)
      file.problem = "its file has changed since it was parsed";
    return file;
  }

  std::string why_not(const report::Replacement& replacement) {
    const File& file = file_of(replacement);
    if (!file.problem.empty())
      return file.problem;
    const std::size_t end = std::size_t(replacement.offset) + replacement.length;
    if (end > file.text.size() ||
        file.text.compare(replacement.offset, replacement.length, replacement.before) != 0)
      return "something else stands in its place";
    const auto next = file.taken.lower_bound(replacement.offset);
    if (next != file.taken.end() && next->first == replacement.offset &&
        next->second.after == replacement.after && next->second.length == replacement.length)
      return {}; // two findings, one answer
    if (next != file.taken.end() && next->first < std::max<std::size_t>(end, replacement.offset + 1))
      return "another fix changes the same place";
    if (next != file.taken.begin() &&
        std::prev(next)->first + std::prev(next)->second.length > replacement.offset)
      return "another fix changes the same place";
    return {};
  }

  fs::path root_;
  std::map<std::string, File> files_;
  Fixes fixes_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1);
    lines.push_back(text.substr(begin, end - begin + 1));
    begin = end + 1;
  }
  return lines;
}

void append_line(char mark, const std::string& line, std::string& out) {
  out += mark + line;
  if (!line.ends_with('\n'))
    out += "\n\\ No newline at end of file\n";
}

// Replacements keep the number of lines: before and after differ line by line.
void append_hunks(const std::vector<std::string>& before, const std::vector<std::string>& after,
                  std::string& out) {
  constexpr std::size_t kContext = 3;
  for (std::size_t i = 0; i < before.size();) {
    if (before[i] == after[i]) {
      ++i;
      continue;
    }
    const std::size_t first = i - std::min(i, kContext);
    std::size_t last = i; // of the differing lines that share the hunk
    for (std::size_t j = i; j < before.size() && j <= last + 2 * kContext; ++j)
      if (before[j] != after[j])
        last = j;
    const std::size_t end = std::min(last + kContext + 1, before.size());
    out += fmt::format("@@ -{0},{1} +{0},{1} @@\n", first + 1, end - first);
    for (std::size_t j = first; j < end;) {
      if (before[j] == after[j]) {
        append_line(' ', before[j++], out);
        continue;
      }
      std::size_t stop = j;
      while (stop < end && before[stop] != after[stop])
        ++stop;
      for (std::size_t k = j; k < stop; ++k)
        append_line('-', before[k], out);
      for (std::size_t k = j; k < stop; ++k)
        append_line('+', after[k], out);
      j = stop;
    }
    i = end;
  }
}

} // namespace

Fixes plan_fixes(const report::Findings& findings, const fs::path& root) {
  Planner planner(root);
  for (std::size_t i = 0; i < findings.findings.size(); ++i)
    if (!findings.findings[i].replacements.empty())
      planner.add(i, findings.findings[i]);
  return planner.finish();
}

void write_fixes(const Fixes& fixes) {
  for (const FixedFile& file : fixes.files) {
    const fs::perms permissions = fs::status(file.path).permissions();
    report::write_file(file.path, file.after);
    fs::permissions(file.path, permissions);
  }
}

std::string to_diff(const Fixes& fixes) {
  std::string out;
  for (const FixedFile& file : fixes.files) {
    out += fmt::format("--- a/{0}\n+++ b/{0}\n", file.name);
    append_hunks(lines_of(file.before), lines_of(file.after), out);
  }
  return out;
}

std::string to_replacements_yaml(const report::Findings& findings, const fs::path& root) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "MainSourceFile" << YAML::Value << YAML::SingleQuoted << ""
      << YAML::Key << "Diagnostics" << YAML::Value << YAML::BeginSeq;
  for (const report::Finding& finding : findings.findings) {
    if (finding.replacements.empty())
      continue;
    const report::Replacement& first = finding.replacements.front();
    out << YAML::BeginMap << YAML::Key << "DiagnosticName" << YAML::Value << "reprobe-" + finding.rule;
    out << YAML::Key << "DiagnosticMessage" << YAML::Value << YAML::BeginMap;
    out << YAML::Key << "Message" << YAML::Value << YAML::DoubleQuoted << finding.message;
    out << YAML::Key << "FilePath" << YAML::Value << YAML::DoubleQuoted
        << (root / first.source.file).string();
    out << YAML::Key << "FileOffset" << YAML::Value << first.offset;
    out << YAML::Key << "Replacements" << YAML::Value << YAML::BeginSeq;
    for (const report::Replacement& replacement : finding.replacements)
      out << YAML::BeginMap << YAML::Key << "FilePath" << YAML::Value << YAML::DoubleQuoted
          << (root / replacement.source.file).string() << YAML::Key << "Offset" << YAML::Value
          << replacement.offset << YAML::Key << "Length" << YAML::Value << replacement.length << YAML::Key
          << "ReplacementText" << YAML::Value << YAML::DoubleQuoted << replacement.after << YAML::EndMap;
    out << YAML::EndSeq << YAML::EndMap;
    out << YAML::Key << "Level" << YAML::Value << (finding.severity == "error" ? "Error" : "Warning");
    out << YAML::Key << "BuildDirectory" << YAML::Value << YAML::DoubleQuoted << root.string()
        << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::EndMap;
  return "---\n" + std::string(out.c_str()) + "\n...\n";
}

} // namespace reprobe::scan
