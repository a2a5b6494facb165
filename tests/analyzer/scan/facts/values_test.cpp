#include "snippet.h"

namespace reprobe::scan {
namespace {

using Kind = Value::Kind;

Value of(const std::string& declarations, const std::string& expression, const std::string& type = "auto") {
  return argument(parse(declarations + "\nvoid f(" + type + "); void test() { f(" + expression + "); }"));
}

TEST(Values, Integers) {
  EXPECT_EQ(of("", "2 + 3 * 4", "long").integer, 14);
  const Value value = of("constexpr int n = 40; enum { two = 2 };", "n + two", "int");
  EXPECT_EQ(value.kind, Kind::integer);
  EXPECT_EQ(value.integer, 42);
  EXPECT_EQ(value.type, "int");
  EXPECT_EQ(value.source, "n + two");
  EXPECT_EQ(of("", "-1", "long").integer, -1);
  EXPECT_EQ(of("", "sizeof(double)", "unsigned long").integer, 8);
}

TEST(Values, FloatingAndBoolean) {
  const Value floating = of("", "0.5", "float");
  EXPECT_EQ(floating.kind, Kind::floating);
  EXPECT_EQ(floating.floating, 0.5);
  const Value boolean = of("", "!false", "bool");
  EXPECT_EQ(boolean.kind, Kind::boolean);
  EXPECT_EQ(boolean.integer, 1);
}

TEST(Values, EnumeratorsKeepTheirNames) {
  const Value scoped =
      of("namespace c10 { enum class Device { CPU, CUDA }; constexpr Device kCUDA = Device::CUDA; }",
         "c10::kCUDA", "c10::Device");
  EXPECT_EQ(scoped.kind, Kind::enumerator);
  EXPECT_EQ(scoped.text, "c10::Device::CUDA");
  EXPECT_EQ(scoped.integer, 1);
  const Value plain = of("enum Algo { ALGO_0, ALGO_1, ALGO_SAME = 1 };\n#define FAST ALGO_1", "FAST", "Algo");
  EXPECT_EQ(plain.text, "ALGO_1");
  EXPECT_EQ(of("enum Algo { ALGO_0, ALGO_1, ALGO_SAME = 1 };", "ALGO_SAME", "Algo").text, "ALGO_SAME");
}

TEST(Values, StringsAndNull) {
  const Value text = of("", "\"conv1\"", "const char*");
  EXPECT_EQ(text.kind, Kind::string);
  EXPECT_EQ(text.text, "conv1");
  EXPECT_EQ(of("", "nullptr", "void*").kind, Kind::null);
  EXPECT_EQ(of("", "0", "void*").kind, Kind::null);
}

TEST(Values, VariablesAndFields) {
  const Value variable = of("extern float x;", "x", "float");
  EXPECT_EQ(variable.kind, Kind::variable);
  EXPECT_EQ(variable.text, "x");
  EXPECT_EQ(variable.type, "float");
  EXPECT_FALSE(variable.id.empty());
  const Value field = of("struct A { int n; }; extern A a;", "a.n", "int");
  EXPECT_EQ(field.kind, Kind::variable);
  EXPECT_EQ(field.text, "A::n");
  ASSERT_EQ(field.operands.size(), 1u);
  EXPECT_EQ(field.operands[0].text, "a");
  EXPECT_EQ(field.operands[0].type, "A");
}

TEST(Values, NestedCallsNameTheirEvent) {
  const TranslationUnit unit = parse("int g(); void f(int); void test() { f(g()); }");
  const Value value = argument(unit);
  EXPECT_EQ(value.kind, Kind::call);
  EXPECT_EQ(value.text, "g");
  EXPECT_EQ(value.event, call(function(unit, "test"), "g").id);
}

TEST(Values, ImplicitConversionsAreSeenThrough) {
  const std::string scalar = "struct Scalar { Scalar(double); Scalar(int); };";
  EXPECT_EQ(of(scalar, "0.5", "Scalar").floating, 0.5);
  EXPECT_EQ(of(scalar, "3", "const Scalar&").integer, 3);
  const TranslationUnit unit = parse(scalar + "void f(Scalar); void test() { f(1); }");
  EXPECT_TRUE(events(function(unit, "test"), Event::Kind::construct).empty());
}

TEST(Values, BracedLists) {
  const Value list = of("#include <initializer_list>\nstruct Sizes { Sizes(std::initializer_list<long>); };",
                        "{64, 3}", "Sizes");
  ASSERT_EQ(list.operands.size(), 2u);
  EXPECT_EQ(list.text, "{}");
  EXPECT_EQ(list.operands[0].integer, 64);
}

TEST(Values, ArrowsOfHoldersAreSeenThrough) {
  const TranslationUnit unit = parse(R"(
    struct Impl { int forward(int); };
    struct Conv { Impl* operator->(); };
    struct Net { Conv conv; };
    void test(Net& net) { net.conv->forward(1); })");
  const Event& forward = call(function(unit, "test"), "Impl::forward");
  EXPECT_EQ(forward.receiver->text, "Net::conv");
  EXPECT_EQ(forward.receiver->type, "Conv");
  EXPECT_EQ(function(unit, "test").events.size(), 1u);
}

TEST(Values, Compounds) {
  const Value sum = of("extern int a, b;", "a + b", "int");
  EXPECT_EQ(sum.kind, Kind::compound);
  EXPECT_EQ(sum.text, "+");
  ASSERT_EQ(sum.operands.size(), 2u);
  EXPECT_EQ(sum.operands[1].text, "b");
  EXPECT_EQ(of("extern int a;", "a ? 1 : 2", "int").text, "?:");
  const Value element = of("extern float* p;", "&p[2]", "float*");
  EXPECT_EQ(element.text, "&");
  EXPECT_EQ(element.type, "float *");
  EXPECT_EQ(element.operands.at(0).text, "[]");
  EXPECT_EQ(element.operands.at(0).operands.at(1).integer, 2);
  const Value cast = of("extern int a;", "(float)a", "float");
  EXPECT_EQ(cast.text, "cast");
  EXPECT_EQ(cast.type, "float");
}

TEST(Values, FunctionsAndLambdas) {
  EXPECT_EQ(of("namespace n { void g(); }", "&n::g", "void (*p)()").operands.at(0).kind, Kind::function);
  EXPECT_EQ(of("namespace n { void g(); }", "n::g", "void (*p)()").text, "n::g");
  const TranslationUnit unit = parse("template <class T> void f(T); void test() { f([] { return 1; }); }");
  const Value lambda = argument(unit);
  EXPECT_EQ(lambda.kind, Kind::lambda);
  const Function& body = function(unit, "test::<lambda>");
  EXPECT_EQ(lambda.id, body.usr);
  EXPECT_TRUE(body.is_lambda);
  EXPECT_EQ(body.owner, function(unit, "test").usr);
}

TEST(Values, TypesOfUndeclaredThingsAreNoEvidence) {
  const TranslationUnit unit = parse("void f(int); void test() { Unknown x = 3; f(x); }");
  for (const Event* each : events(function(unit, "test"), Event::Kind::call))
    for (const Value& value : each->arguments)
      EXPECT_EQ(value.type, "") << value.source;
  EXPECT_EQ(unit.status, "partial");
}

TEST(Values, LongSourceIsCut) {
  const Value value = of("extern int a;",
                         "a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a + a +"
                         " a + a + a + a + a + a + a + a + a + a + a + a + a + a + a",
                         "int");
  EXPECT_LE(value.source.size(), 120u);
  EXPECT_EQ(value.source.substr(0, 9), "a + a + a");
}

} // namespace
} // namespace reprobe::scan
