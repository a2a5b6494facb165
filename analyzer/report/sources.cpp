#include "analyzer/report/sources.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <tuple>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace reprobe::report {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargest = 16u << 20; // bytes; the scanner reads no larger ones either
constexpr std::size_t kLongestLine = 2000;     // bytes; what follows is generated

std::string read_source(const fs::path& path) {
  std::error_code error;
  // Only regular files: a pipe would wait for its writer.
  if (!fs::is_regular_file(path, error) || fs::file_size(path, error) > kLargest)
    return {};
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\r')
      result += c;
  return result;
}

template <class Visitor>
void for_each_finding(Findings& findings, Visitor visit) {
  for (Finding& finding : findings.findings)
    visit(finding);
  for (Finding& finding : findings.suppressed)
    visit(finding);
}

} // namespace

Sources::File Sources::split(std::string text) {
  File file{std::move(text), {0}};
  for (std::size_t at = file.text.find('\n'); at != std::string::npos; at = file.text.find('\n', at + 1))
    file.starts.push_back(at + 1);
  return file;
}

void Sources::put(const fs::path& file, std::string text) {
  files_[(root_ / file).lexically_normal()] = split(std::move(text));
}

const Sources::File& Sources::load(const std::string& file) {
  const fs::path path = (root_ / file).lexically_normal();
  const auto known = files_.find(path);
  return known != files_.end() ? known->second : files_.emplace(path, split(read_source(path))).first->second;
}

std::string_view Sources::line(const std::string& file, std::uint32_t number) {
  if (file.empty() || number == 0)
    return {};
  const File& source = load(file);
  if (number > source.starts.size())
    return {};
  const std::size_t begin = source.starts[number - 1];
  const std::size_t end = number < source.starts.size() ? source.starts[number] - 1 : source.text.size();
  std::string_view line = std::string_view(source.text).substr(begin, end - begin);
  if (line.ends_with('\r'))
    line.remove_suffix(1);
  return line.substr(0, kLongestLine);
}

void add_lines(Findings& findings, Sources& sources) {
  for_each_finding(findings, [&](Finding& finding) {
    finding.source.text = sources.line(finding.source.file, finding.source.line);
    for (Note& note : finding.notes)
      note.source.text = sources.line(note.source.file, note.source.line);
    for (Replacement& replacement : finding.replacements)
      replacement.source.text = sources.line(replacement.source.file, replacement.source.line);
  });
}

std::string hash_of(std::string_view text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

void add_fingerprints(Findings& findings) {
  std::vector<Finding*> all;
  for_each_finding(findings, [&](Finding& finding) { all.push_back(&finding); });
  const auto place = [](const Finding* f) {
    return std::tie(f->source.file, f->source.line, f->source.column);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Finding* a, const Finding* b) { return place(a) < place(b); });
  std::map<std::pair<std::string, std::string>, unsigned> occurrences; // by file and what is hashed
  for (Finding* finding : all) {
    const std::string text =
        finding->source.text.empty() ? finding->message : without_blanks(finding->source.text);
    const std::string parts = finding->rule + '\0' + finding->function + '\0' + text;
    finding->fingerprint =
        hash_of(parts + '\0' + std::to_string(occurrences[{finding->source.file, parts}]++));
  }
}

} // namespace reprobe::report
