#include "tests/analyzer/report/examples.h"

#include <gtest/gtest.h>

namespace reprobe::report {
namespace {

struct Rendered {
  Findings findings;
  std::vector<Measurements> all{1};
  Report report() { return join(&findings, all); }
};

Rendered one_of_each() {
  Rendered input;
  input.findings.findings = {examples::index_add_at("a.cpp", 1), examples::index_add_at("a.cpp", 2), examples::index_add_at("a.cpp", 3)};
  input.all[0].environment = {{"device", "NVIDIA H200"}, {"libtorch", "2.11.0"}};
  input.all[0].entries = {examples::measured("aten::index_add", "a.cpp", 1, 7), examples::measured("aten::index_add", "a.cpp", 2, 1),
                          examples::measured("aten::cumsum", "a.cpp", 9, 2), examples::not_examined("aten::item", "copies to the host")};
  return input;
}

TEST(RenderText, EachStateHasItsSectionAndFigures) {
  Rendered input = one_of_each();
  const std::string text = render_text(input.report(), input.all, false);
  EXPECT_NE(text.find("NVIDIA H200, LibTorch 2.11.0"), std::string::npos) << text;
  EXPECT_NE(text.find("flagged, and measured varying (1)\n  a.cpp:1"), std::string::npos) << text;
  EXPECT_NE(text.find("7 distinct results in 20 rounds, 25 % of elements differ, up to 3 ULP, 1e-07 absolute, 2e-06 relative"), std::string::npos) << text;
  EXPECT_NE(text.find("measured varying, not flagged (1)\n  a.cpp:9  aten::cumsum"), std::string::npos) << text;
  EXPECT_NE(text.find("flagged, not measured (1)\n  a.cpp:3"), std::string::npos) << text;
  EXPECT_NE(text.find("20 identical results (differs in fewer than 14 % of executions, at 95 % confidence)"), std::string::npos) << text;
  EXPECT_NE(text.find("1 not examined: copies to the host"), std::string::npos) << text;
}

TEST(RenderText, SpecialValuesAndReorderedIndicesAreSaid) {
  Measurement entry = examples::measured("aten::sort", "a.cpp", 1, 7);
  entry.outputs.resize(2);
  entry.outputs[0].nan_mismatches = 3;
  entry.outputs[0].infinity_mismatches = 2;
  entry.outputs[1].same_values = true;
  EXPECT_NE(distance_of(entry).find("2e-06 relative, NaN in one result and a number in another for up to 3 elements, infinite in one "
                                    "and not in another for up to 2, indices the same in another order"),
            std::string::npos)
      << distance_of(entry);
  entry.outputs[1].same_values = false;
  EXPECT_EQ(distance_of(entry).find("order"), std::string::npos);
}

TEST(RenderText, ControlCharactersFromTheProgramDoNotReachTheTerminal) {
  Rendered input = one_of_each();
  input.findings.findings[0].message = "name\033[31m\nnext \xe2\x80\xae" "drawkcab";
  const std::string text = render_text(input.report(), input.all, false);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(text.find("\xe2\x80\xae"), std::string::npos);
  EXPECT_NE(text.find("name\\x1b[31m\\x0anext"), std::string::npos) << text;
}

TEST(EnvironmentLine, NamesTheProcessorThatWasUsedAndTheProgramsVersions) {
  Measurements measurements;
  EXPECT_EQ(environment_line(measurements), "environment not recorded");
  measurements.environment = {{"cpu", "Some CPU"}, {"gpus", {"NVIDIA H200", "NVIDIA H200"}}, {"libtorch", "2.11.0"},
                              {"cuda_runtime", 13000}, {"cudnn", 91900}, {"driver", "580.1"}, {"cuda_in_use", true}};
  EXPECT_EQ(environment_line(measurements), "NVIDIA H200 (one of 2), LibTorch 2.11.0, CUDA 13.0, cuDNN 9.19.0, driver 580.1");
  measurements.environment["cuda_in_use"] = false;
  measurements.environment.erase("cuda_runtime");
  measurements.environment["cudnn"] = 8907;
  EXPECT_EQ(environment_line(measurements), "Some CPU, LibTorch 2.11.0, cuDNN 8.9.7");
}

TEST(RenderHtml, EverythingFromTheProgramIsEscaped) {
  Rendered input = one_of_each();
  input.findings.findings[0].message = "<script>alert('x')</script>";
  input.all[0].entries[2].op = "evil::<img src=x onerror=\"y\">";
  const std::string page = render_html(input.report(), input.all);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(&#39;x&#39;)"), std::string::npos);
}

TEST(RenderHtml, IsOneSelfContainedPage) {
  Rendered input = one_of_each();
  const std::string page = render_html(input.report(), input.all);
  EXPECT_EQ(page.find("http"), std::string::npos);
  EXPECT_EQ(page.find("src="), std::string::npos);
  EXPECT_TRUE(page.starts_with("<!doctype html>"));
  EXPECT_NE(page.find("</html>"), std::string::npos);
}

TEST(RenderJson, CarriesStatesAndCounts) {
  Rendered input = one_of_each();
  const nlohmann::json document = nlohmann::json::parse(render_json(input.report(), input.all));
  EXPECT_EQ(document["schema"], "reprobe-report/1");
  EXPECT_EQ(document["counts"]["varying"], 2);
  ASSERT_EQ(document["items"].size(), 4u);
  EXPECT_EQ(document["items"][0]["state"], "varies");
  EXPECT_EQ(document["items"][0]["measurements"][0]["distinct"], 7);
  EXPECT_EQ(document["items"][1]["state"], "varies-not-flagged");
}

} // namespace
} // namespace reprobe::report
