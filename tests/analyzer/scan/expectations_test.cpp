// Rules on real code: each case carries its expectations as comments at the end of the line, `// expect:
// rule-id`.
//
// A case is rules/<rule>.cpp or .cu, or a folder rules/<rule>/<name>/ that is scanned as a whole. Only the
// rule under test is on; its findings and the expectations must agree line by line, both ways. A first line
// `// flags: …` gives compiler options.
#include "analyzer/scan/scan.h"
#include "rules/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <set>
#include <sstream>

namespace reprobe::scan {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string rule;
  fs::path path;
  friend void PrintTo(const Case& test, std::ostream* out) { *out << test.path.filename().string(); }
};

bool is_source(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".cpp" || extension == ".cu" || extension == ".c" || extension == ".h" ||
         extension == ".cuh";
}

// <rule>/<name>/…: the folders directly below the rule's.
std::vector<Case> all_cases() {
  std::vector<Case> cases;
  const rules::Registry& registry = rules::Registry::builtin();
  for (const fs::directory_entry& entry : fs::directory_iterator(REPROBE_TEST_CASES)) {
    const std::string rule = entry.path().stem().string();
    if (!registry.find(rule))
      continue;
    if (entry.is_regular_file() && is_source(entry.path()))
      cases.push_back({rule, entry.path()});
    if (!entry.is_directory())
      continue;
    for (const fs::directory_entry& folder : fs::directory_iterator(entry.path()))
      if (folder.is_directory())
        cases.push_back({rule, folder.path()});
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.path < b.path; });
  return cases;
}

std::vector<fs::path> sources_of(const Case& test) {
  if (fs::is_regular_file(test.path))
    return {test.path};
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(test.path))
    if (entry.is_regular_file() && is_source(entry.path()))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

using Lines = std::set<std::pair<std::string, std::uint32_t>>; // file's name within the case, line

struct Expectations {
  Lines lines;
  std::vector<std::string> flags;
  bool uses_torch = false, uses_cuda = false;
};

void read_expectations(const Case& test, const fs::path& file, Expectations& out) {
  const std::string name =
      fs::relative(file, fs::is_directory(test.path) ? test.path : test.path.parent_path()).generic_string();
  std::ifstream in(file);
  std::string line;
  out.uses_cuda |= file.extension() == ".cu";
  for (std::uint32_t number = 1; std::getline(in, line); ++number) {
    if (number == 1 && line.rfind("// flags:", 0) == 0) {
      std::istringstream words(line.substr(9));
      for (std::string word; words >> word;)
        out.flags.push_back(word);
    }
    out.uses_torch |= line.find("#include <torch/") != std::string::npos;
    const std::size_t at = line.find("// expect:");
    if (at == std::string::npos)
      continue;
    std::istringstream ids(line.substr(at + 10));
    for (std::string id; std::getline(ids, id, ',');) {
      id.erase(0, id.find_first_not_of(' '));
      id.erase(id.find_last_not_of(" \r") + 1);
      ASSERT_NE(rules::Registry::builtin().find(id), nullptr)
          << file << ":" << number << ": no such rule: " << id;
      if (id == test.rule)
        out.lines.insert({name, number});
    }
  }
}

std::string shown(const Lines& lines) {
  std::vector<std::string> out;
  for (const auto& [file, line] : lines)
    out.push_back(fmt::format("{}:{}", file, line));
  return fmt::format("{}", fmt::join(out, ", "));
}

// A finding's file is relative to a root that the scanner chooses: compare by the end of the path.
std::string name_in_case(const std::string& found, const std::vector<fs::path>& files, const fs::path& base) {
  for (const fs::path& file : files) {
    const std::string full = file.generic_string();
    if (full == found || full.ends_with("/" + found))
      return fs::relative(file, base).generic_string();
  }
  return found;
}

// As users scan: what one case parses of large headers, the next finds precompiled.
void use_cache(Options& options) {
  options.cache = true;
  options.cache_folder = REPROBE_TEST_CACHE;
}

class RuleTest : public testing::TestWithParam<Case> {
public:
  // A scan of several files precompiles their header first; a case alone would leave that to the background.
  static void SetUpTestSuite() {
    if (!fs::exists(fs::path(REPROBE_TEST_TORCH_ROOT) / "include/ATen"))
      return;
    Options options;
    options.paths = {REPROBE_TEST_LEADING_HEADERS};
    options.torch_root = REPROBE_TEST_TORCH_ROOT;
    use_cache(options);
    scan(options, rules::Registry::builtin());
  }
};

TEST_P(RuleTest, FindingsAreThoseExpected) {
  const Case& test = GetParam();
  const std::vector<fs::path> files = sources_of(test);
  Expectations expected;
  for (const fs::path& file : files)
    read_expectations(test, file, expected);
  if (expected.uses_torch && !fs::exists(fs::path(REPROBE_TEST_TORCH_ROOT) / "include/ATen"))
    GTEST_SKIP() << "this case needs LibTorch's headers";
  if (expected.uses_cuda && !fs::exists(fs::path(REPROBE_TEST_CUDA_ROOT) / "include/cuda_runtime.h"))
    GTEST_SKIP() << "this case needs CUDA's headers";

  Options options;
  options.paths = {test.path};
  options.rules = {test.rule};
  options.extra_arguments = expected.flags;
  if (expected.uses_torch)
    options.torch_root = REPROBE_TEST_TORCH_ROOT;
  if (expected.uses_cuda)
    options.cuda_root = REPROBE_TEST_CUDA_ROOT;
  options.jobs = 1;
  use_cache(options);
  const report::Findings findings = scan(options, rules::Registry::builtin());

  const fs::path base = fs::is_directory(test.path) ? test.path : test.path.parent_path();
  Lines found;
  std::string text;
  for (const report::Finding& finding : findings.findings) {
    EXPECT_EQ(finding.rule, test.rule);
    EXPECT_FALSE(finding.message.empty());
    EXPECT_FALSE(finding.fix.empty());
    found.insert({name_in_case(finding.source.file, files, base), finding.source.line});
    text += fmt::format("{}:{}: {}\n", finding.source.file, finding.source.line, finding.message);
  }
  for (const report::ExaminedFile& file : findings.examined)
    EXPECT_EQ(file.status, "full") << file.file << ": " << file.reason;
  Lines missed, unexpected;
  std::set_difference(expected.lines.begin(), expected.lines.end(), found.begin(), found.end(),
                      std::inserter(missed, missed.end()));
  std::set_difference(found.begin(), found.end(), expected.lines.begin(), expected.lines.end(),
                      std::inserter(unexpected, unexpected.end()));
  EXPECT_TRUE(missed.empty()) << "missed: " << shown(missed) << "\nfindings:\n" << text;
  EXPECT_TRUE(unexpected.empty()) << "not expected: " << shown(unexpected) << "\nfindings:\n" << text;
  EXPECT_FALSE(findings.examined.empty());
}

INSTANTIATE_TEST_SUITE_P(Cases, RuleTest, testing::ValuesIn(all_cases()),
                         [](const testing::TestParamInfo<Case>& info) {
                           const Case& test = info.param;
                           std::string name = fs::is_directory(test.path)
                                                  ? test.rule + "_" + test.path.filename().string()
                                                  : test.rule;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c)))
                               c = '_';
                           return name;
                         });

// A rule without a line that it must find, or without one that it must leave alone, is not tested.
TEST(RuleCases, EveryRuleHasTrueAndFalseCases) {
  for (const rules::Rule& rule : rules::Registry::builtin().rules()) {
    std::size_t expected = 0, lines = 0;
    for (const Case& test : all_cases()) {
      if (test.rule != rule.id)
        continue;
      for (const fs::path& file : sources_of(test)) {
        Expectations of_file;
        read_expectations(test, file, of_file);
        expected += of_file.lines.size();
        std::ifstream in(file);
        lines += std::count(std::istreambuf_iterator<char>(in), {}, '\n');
      }
    }
    EXPECT_GT(expected, 0u) << rule.id;
    EXPECT_GT(lines, 3 * expected) << rule.id;
  }
}

} // namespace
} // namespace reprobe::scan
