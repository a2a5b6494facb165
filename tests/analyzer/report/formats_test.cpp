// Each format on the same findings: ordinary ones, and ones whose names try to break out of the format.
#include "analyzer/report/renderer.h"
#include "tests/analyzer/report/examples.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace reprobe::report {
namespace {

using nlohmann::json;

Findings ordinary() {
  Findings findings;
  findings.root = "/home/some one/project";
  Finding first = examples::index_add_at("src/train.cpp", 41);
  first.function = "train";
  first.source.text = "  \"ü\"; x.index_add_(0, i, s);";
  first.source.column = 9, first.source.end_column = 22; // x … index_add_, behind one character of two bytes
  first.fingerprint = "0123456789abcdef0123456789abcdef";
  Finding second = first;
  second.rule = "missing-seed";
  second.severity = "error";
  second.confidence = "medium";
  second.fix.clear();
  second.notes = {{{"src/train.cpp", 90, 1, 0, 0}, "draws as well"}, {{"src/train.cpp", 30, 1, 0, 0}, "the program starts here"}};
  Finding third = first;
  third.suppression = Suppression{"in-source", "measured stable", {"src/train.cpp", 41, 40, 41, 60}};
  findings.findings = {first, second};
  findings.suppressed = {third};
  findings.examined = {{"src/train.cpp", "full", "", {}}, {"src/part.cpp", "partial", "headers not found: x.h", {"x.h"}},
                       {"src/broken.cpp", "failed", "clang crashed", {}}};
  findings.remarks = {"LibTorch not found"};
  return findings;
}

std::string hostile() {
  using namespace std::string_literals;
  return "\033[31m<b>\"'&%::,\n::error::x\r\xff\xe2\x80\xae]]>\0end"s;
}

Findings made_hostile() {
  Findings findings = ordinary();
  for (Finding* finding : {&findings.findings[0], &findings.findings[1], &findings.suppressed[0]}) {
    for (std::string* text : {&finding->message, &finding->fix, &finding->function, &finding->source.file, &finding->source.text})
      *text = hostile();
    finding->notes = {{{hostile(), 1, 1, 0, 0, hostile()}, hostile()}};
    if (finding->suppression)
      finding->suppression->reason = finding->suppression->source.file = hostile();
  }
  for (ExaminedFile& file : findings.examined)
    file.file = file.reason = hostile();
  findings.remarks = {hostile()};
  return findings;
}

std::string render(std::string_view format, const Findings& findings, bool color = false) {
  RenderInput input{findings, rules::Registry::builtin(), "1.2.3"};
  input.color = color;
  return find_format(format)->render(input);
}

class EveryFormat : public testing::TestWithParam<std::string> {};

TEST_P(EveryFormat, LetsNoControlCharacterOverrideOrInvalidByteThrough) {
  const std::string text = render(GetParam(), made_hostile());
  EXPECT_NE(text.find("end"), std::string::npos) << "the names are there";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    ASSERT_GT(length, 0u) << "invalid UTF-8 at " << at;
    const auto byte = static_cast<unsigned char>(text[at]);
    ASSERT_TRUE(byte >= 0x20 || byte == '\n' || byte == '\t') << "control character at " << at;
    ASSERT_NE(text.substr(at, length), "\xe2\x80\xae") << at;
    at += length;
  }
}

TEST_P(EveryFormat, CanRenderNothing) { EXPECT_NO_THROW(render(GetParam(), {})); }

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Format& format : formats())
    out.emplace_back(format.name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, EveryFormat, testing::ValuesIn(names()), [](const auto& info) { return info.param; });

TEST(FormatOf, FollowsTheExtension) {
  EXPECT_EQ(format_of("out/a.sarif")->name, "sarif");
  EXPECT_EQ(format_of("a.sarif.json")->name, "sarif");
  EXPECT_EQ(format_of("a.json")->name, "json");
  EXPECT_EQ(format_of("a.xml")->name, "junit");
  EXPECT_EQ(format_of("a.log"), nullptr);
  EXPECT_EQ(find_format("yaml"), nullptr);
}

TEST(Text, IsClangsDiagnosticForm) {
  Findings findings = ordinary();
  findings.findings.pop_back();
  EXPECT_EQ(render("text", findings),
            "src/train.cpp:41:9: warning: index_add_ adds floats with atomics on CUDA [nondeterministic-op]\n"
            "   41 |   \"ü\"; x.index_add_(0, i, s);\n"
            "      |        ^~~~~~~~~~~~~\n"
            "src/train.cpp:3:1: note: determinism is switched off here\n"
            "    fix: at::globalContext().setDeterministicAlgorithms(true, false);\n");
}

TEST(Text, CaretsStandUnderTheirTextBehindTabsAndInLongLines) {
  Findings findings = ordinary();
  findings.findings.resize(1);
  Finding& finding = findings.findings[0];
  finding.notes.clear();
  finding.source.text = "\t\tcall();", finding.source.column = 3, finding.source.end_column = 7;
  EXPECT_NE(render("text", findings).find("   41 |         call();\n      |         ^~~~\n"), std::string::npos)
      << render("text", findings);
  finding.source.text = std::string(500, 'a') + "call()" + std::string(500, 'b');
  finding.source.column = 501, finding.source.end_column = 505;
  const std::string text = render("text", findings);
  const std::size_t line = text.find("   41 | ..."), caret = text.find("^~~~");
  ASSERT_NE(line, std::string::npos) << text;
  const std::size_t end = text.find('\n', line);
  EXPECT_LT(end - line, 200u);
  EXPECT_EQ(text.substr(line, end - line).find("call()"), caret - (end + 1));
}

TEST(Text, ConfidenceAndColour) {
  EXPECT_NE(render("text", ordinary()).find("on CUDA (medium confidence) [missing-seed]\n"), std::string::npos);
  EXPECT_NE(render("text", ordinary(), true).find("\033[1;35mwarning\033[0m"), std::string::npos);
}

TEST(Text, SuppressedFindingsAreNotShown) {
  Findings findings = ordinary();
  findings.findings.clear();
  EXPECT_EQ(render("text", findings), "");
}

TEST(Github, OneCommandALine) {
  EXPECT_EQ(render("github", ordinary()),
            "::warning file=src/train.cpp,line=41,endLine=41,col=9,endColumn=22,title=nondeterministic-op::index_add_ adds "
            "floats with atomics on CUDA%0Afix: at::globalContext().setDeterministicAlgorithms(true, false);\n"
            "::error file=src/train.cpp,line=41,endLine=41,col=9,endColumn=22,title=missing-seed::index_add_ adds floats with "
            "atomics on CUDA\n"
            "::warning file=src/broken.cpp,title=not examined::clang crashed\n");
  const std::string text = render("github", made_hostile());
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << "two findings and a file";
  for (std::size_t at = 0; at != std::string::npos && at < text.size(); at = text.find('\n', at) + 1) {
    EXPECT_TRUE(text.compare(at, 2, "::") == 0);
    if (text.find('\n', at) + 1 >= text.size())
      break;
  }
  EXPECT_NE(text.find("%25%3A%3A%2C"), std::string::npos);
}

TEST(Gitlab, ViolationsWithUniqueFingerprints) {
  const json report = json::parse(render("gitlab", ordinary()));
  ASSERT_EQ(report.size(), 2u);
  EXPECT_EQ(report[0]["check_name"], "nondeterministic-op");
  EXPECT_EQ(report[0]["severity"], "major");
  EXPECT_EQ(report[1]["severity"], "critical");
  EXPECT_EQ(report[0]["location"], (json{{"path", "src/train.cpp"}, {"lines", {{"begin", 41}, {"end", 41}}}}));
  Findings moved = ordinary();
  moved.findings[0].source.file = "other.cpp";
  EXPECT_NE(json::parse(render("gitlab", moved))[0]["fingerprint"], report[0]["fingerprint"]);
}

json sarif_run(const Findings& findings) { return json::parse(render("sarif", findings)).at("runs").at(0); }

TEST(Sarif, LocatesResults) {
  const json run = sarif_run(ordinary());
  EXPECT_EQ(run["originalUriBaseIds"]["SRCROOT"]["uri"], "file:///home/some%20one/project/");
  EXPECT_EQ(run["columnKind"], "unicodeCodePoints");
  const json& result = run["results"][0];
  const json& place = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"], (json{{"uri", "src/train.cpp"}, {"uriBaseId", "SRCROOT"}}));
  EXPECT_EQ(place["region"]["startLine"], 41);
  EXPECT_EQ(place["region"]["startColumn"], 8) << "characters, not bytes";
  EXPECT_EQ(place["region"]["endColumn"], 21);
  EXPECT_EQ(result["partialFingerprints"]["primaryLocationLineHash"], "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(result["level"], "warning");
  const json& rule = run["tool"]["driver"]["rules"].at(result["ruleIndex"].get<std::size_t>());
  EXPECT_EQ(rule["id"], result["ruleId"]);
  EXPECT_NE(rule["help"]["markdown"].get<std::string>().find("## Fix"), std::string::npos);
  EXPECT_EQ(rule["properties"]["precision"], "high");
}

TEST(Sarif, FixesReplaceCharactersNotBytes) {
  Findings findings = ordinary();
  Replacement replacement{findings.findings[0].source, 40, 4, "true", "false", ""};
  replacement.source.text = "/* ü */ f(true);";
  replacement.source.column = 12, replacement.source.end_line = replacement.source.line;
  replacement.source.end_column = 16;
  findings.findings[0].replacements = {replacement};
  const json fix = sarif_run(findings)["results"][0]["fixes"][0];
  const json change = fix["artifactChanges"][0];
  EXPECT_EQ(change["artifactLocation"]["uri"], "src/train.cpp");
  EXPECT_EQ(change["replacements"][0]["deletedRegion"]["startColumn"], 11);
  EXPECT_EQ(change["replacements"][0]["deletedRegion"]["endColumn"], 15);
  EXPECT_EQ(change["replacements"][0]["insertedContent"]["text"], "false");
  EXPECT_FALSE(sarif_run(findings)["results"][1].contains("fixes"));
}

TEST(Sarif, AbsoluteFilesHaveNoBase) {
  Findings findings = ordinary();
  findings.findings[0].source.file = "/usr/include/x.h";
  const json location = sarif_run(findings)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
  EXPECT_EQ(location, (json{{"uri", "file:///usr/include/x.h"}}));
}

TEST(Sarif, SeedsHaveACodeFlowInSourceOrderOperatorsHaveNone) {
  const json run = sarif_run(ordinary());
  EXPECT_FALSE(run["results"][0].contains("codeFlows"));
  EXPECT_EQ(run["results"][0]["relatedLocations"].size(), 1u);
  const json& steps = run["results"][1]["codeFlows"][0]["threadFlows"][0]["locations"];
  std::vector<int> lines;
  for (const json& step : steps)
    lines.push_back(step["location"]["physicalLocation"]["region"]["startLine"]);
  EXPECT_EQ(lines, (std::vector<int>{30, 41, 90}));
}

TEST(Sarif, SuppressedResultsSayWhyAndUnexaminedFilesAreNotifications) {
  const json run = sarif_run(ordinary());
  ASSERT_EQ(run["results"].size(), 3u);
  EXPECT_TRUE(run["results"][0]["suppressions"].empty());
  const json& suppression = run["results"][2]["suppressions"][0];
  EXPECT_EQ(suppression["kind"], "inSource");
  EXPECT_EQ(suppression["justification"], "measured stable");
  const json& invocation = run["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  std::set<std::string> levels;
  for (const json& notification : invocation["toolExecutionNotifications"])
    levels.insert(notification["level"].get<std::string>());
  EXPECT_EQ(levels, (std::set<std::string>{"error", "warning", "note"}));
}

TEST(Junit, CountsAgreeWithCases) {
  const std::string text = render("junit", ordinary());
  EXPECT_NE(text.find("<testsuites name=\"reprobe scan\" tests=\"6\" failures=\"2\" errors=\"1\" time=\"0\">"), std::string::npos) << text;
  EXPECT_NE(text.find("<testsuite name=\"src/train.cpp\" tests=\"4\" failures=\"2\" errors=\"0\" skipped=\"1\""), std::string::npos);
  EXPECT_NE(text.find("<error message=\"clang crashed\""), std::string::npos);
}

TEST(FindingsJson, SuppressionsAndFingerprintsSurvive) {
  const Findings once = findings_from_json(render("json", ordinary()), "test");
  ASSERT_EQ(once.suppressed.size(), 1u);
  EXPECT_EQ(once.suppressed[0].suppression->reason, "measured stable");
  EXPECT_EQ(once.suppressed[0].suppression->source.column, 40u);
  EXPECT_EQ(once.findings[0].fingerprint, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(once.findings[0].source.text, ordinary().findings[0].source.text);
}

} // namespace
} // namespace reprobe::report
