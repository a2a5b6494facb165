#include "snippet.h"

namespace reprobe::scan {
namespace {

std::string statement_of(const Pragma& pragma, const std::string& code) {
  return code.substr(pragma.statement.begin.offset,
                     pragma.statement.end.offset - pragma.statement.begin.offset);
}

TEST(Pragmas, AreReadWithoutAnyFlag) {
  const std::string code = R"(
float sum(const float* x, int n) {
  float s = 0;
  #pragma   omp parallel for \
      reduction(+:s)
  for (int i = 0; i < n; ++i) { s += x[i]; }
  return s;
})";
  const TranslationUnit unit = parse(code);
  ASSERT_EQ(unit.pragmas.size(), 1u);
  EXPECT_EQ(unit.pragmas[0].text, "omp parallel for reduction(+:s)");
  EXPECT_EQ(unit.pragmas[0].where.line, 4u);
  EXPECT_EQ(statement_of(unit.pragmas[0], code), "for (int i = 0; i < n; ++i) { s += x[i]; }");
  EXPECT_EQ(unit.status, "full");
}

TEST(Pragmas, AlsoWhereAMacroLeavesThemOut) {
  const std::string code = "void f(int n) {\n#ifdef _OPENMP\n#pragma omp parallel\n#endif\n{ while (n) if (n > 2) --n; else n = 0; } }";
  const TranslationUnit unit = parse(code);
  ASSERT_EQ(unit.pragmas.size(), 1u);
  EXPECT_EQ(statement_of(unit.pragmas[0], code), "{ while (n) if (n > 2) --n; else n = 0; }");
}

TEST(Pragmas, StatementsEndWhereTheyEnd) {
  const std::string code = R"(
void f(int n, int* x, int& m) {
  #pragma omp for
  for (int i = 0; i < n; ++i) if (x[i]) { x[i] = 1; } else x[i] = 2;
  #pragma omp atomic
  m += x[0];
  #pragma omp critical
  { m = 0; }
  #pragma omp barrier
})";
  const TranslationUnit unit = parse(code);
  ASSERT_EQ(unit.pragmas.size(), 4u);
  EXPECT_EQ(statement_of(unit.pragmas[0], code),
            "for (int i = 0; i < n; ++i) if (x[i]) { x[i] = 1; } else x[i] = 2;");
  EXPECT_EQ(statement_of(unit.pragmas[1], code), "m += x[0];");
  EXPECT_EQ(statement_of(unit.pragmas[2], code), "{ m = 0; }");
}

TEST(Pragmas, OthersAndCommentsAreNone) {
  const TranslationUnit unit = parse(R"(#pragma once
    // #pragma omp parallel
    const char* text = "#pragma omp parallel";
    #pragma GCC diagnostic push
    void f() {})");
  EXPECT_TRUE(unit.pragmas.empty());
}

} // namespace
} // namespace reprobe::scan
