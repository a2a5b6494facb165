#include "snippet.h"

namespace reprobe::scan {
namespace {

using Kind = Event::Kind;

TEST(Events, CallsAreNamedByTheDeclarationFound) {
  Snippet snippet;
  snippet.files["system/torch.h"] = R"(#pragma once
    namespace at { void manual_seed(unsigned long); }
    namespace torch { using at::manual_seed; inline namespace v1 { void rand(int); } })";
  const TranslationUnit unit = snippet.parse(
      "#include <torch.h>\nvoid mine();\nvoid test() { torch::manual_seed(1); torch::rand(2); mine(); }");
  const Function& test = function(unit, "test");
  EXPECT_TRUE(call(test, "at::manual_seed").external);
  EXPECT_TRUE(call(test, "torch::rand").external);
  EXPECT_FALSE(call(test, "mine").external);
  EXPECT_EQ(unit.status, "full");
}

TEST(Events, PositionsCountFromOne) {
  const TranslationUnit unit = parse("namespace n { void f(int); }\nvoid test() {\n  n::f(1);\n}");
  const Event& event = call(function(unit, "test"), "n::f");
  EXPECT_EQ(unit.files.at(event.name.file).path, "main.cpp");
  EXPECT_EQ(event.name.line, 3u);
  EXPECT_EQ(event.name.column, 6u);
  EXPECT_EQ(event.range.begin.column, 3u);
  EXPECT_EQ(event.range.end.column, 10u);
  EXPECT_EQ(event.range.begin.offset, 45u);
}

TEST(Events, UsedAndUnusedResults) {
  const TranslationUnit unit = parse(R"(
    int a(); int b(); int c(); int d(); int e(); int g();
    int test(bool flag) { a(); int x = b(); if (flag) c(); (void)d(); x = (e(), g()); return x; })");
  const Function& test = function(unit, "test");
  for (const char* unused : {"a", "c", "d", "e"})
    EXPECT_FALSE(call(test, unused).result_used) << unused;
  for (const char* used : {"b", "g"})
    EXPECT_TRUE(call(test, used).result_used) << used;
}

TEST(Events, ReturnsHoldTheirValue) {
  const TranslationUnit unit = parse(R"(
    int g(); void h();
    int test(bool flag) { if (flag) return 3; return g(); }
    void nothing() { return h(); }
    auto lambda = [](int x) { return x; };)");
  const auto returns = events(function(unit, "test"), Kind::returns);
  ASSERT_EQ(returns.size(), 2u);
  EXPECT_EQ(returns[0]->arguments.at(0).integer, 3);
  EXPECT_EQ(returns[1]->arguments.at(0).text, "g");
  EXPECT_TRUE(call(function(unit, "test"), "g").result_used);
  EXPECT_EQ(events(function(unit, "nothing"), Kind::returns).size(), 1u);
}

TEST(Events, OverridesNameEveryBase) {
  const TranslationUnit unit = parse(R"(
    struct A { virtual void f(); virtual void g(); };
    struct B : A { void f() override; };
    struct C : B { void f() override {} void g() override {} void h() {} };)");
  EXPECT_EQ(function(unit, "C::f").overrides.size(), 2u);
  EXPECT_EQ(function(unit, "C::g").overrides.size(), 1u);
  EXPECT_TRUE(function(unit, "C::h").overrides.empty());
}

TEST(Events, DeclarationsTellTheirStorage) {
  const TranslationUnit unit = parse(R"(
    struct T { T(int); }; int g();
    thread_local T global(1);
    void test(T& r, T v) { static T a(1); thread_local T b(2); T c(3); T& d = r; static int e = g(); int f = g(); })");
  const Function& test = function(unit, "test");
  const auto text_of = [&](const std::string& name) {
    for (const Event& event : test.events)
      if (event.variable == "test::" + name)
        return event.text;
    return std::string("missing");
  };
  EXPECT_EQ(text_of("a"), "static");
  EXPECT_EQ(text_of("b"), "thread_local");
  EXPECT_EQ(text_of("c"), "");
  EXPECT_EQ(text_of("d"), "reference");
  EXPECT_EQ(text_of("e"), "static");
  EXPECT_EQ(text_of("f"), "");
  EXPECT_EQ(event(function(unit, "<static-init>"), Kind::construct).text, "thread_local");
  EXPECT_TRUE(test.parameters.at(0).reference);
  EXPECT_FALSE(test.parameters.at(1).reference);
}

TEST(Events, MethodsHaveReceivers) {
  const TranslationUnit unit = parse(R"(
    struct T { T& add_(const T&); T operator[](int) const; T& operator+=(const T&); };
    T operator*(const T&, const T&);
    void test(T x, T y) { x.add_(y); x[3]; x += y; x * y; })");
  const Function& test = function(unit, "test");
  EXPECT_EQ(call(test, "T::add_").receiver->text, "test::x");
  EXPECT_EQ(call(test, "T::add_").result_type, "T");
  EXPECT_EQ(call(test, "T::operator[]").arguments.at(0).integer, 3);
  EXPECT_EQ(call(test, "T::operator+=").receiver->text, "test::x");
  EXPECT_EQ(call(test, "operator*").arguments.size(), 2u);
}

TEST(Events, DefaultArgumentsAreLeftOut) {
  const TranslationUnit unit = parse("int g(); void f(int a, int b = g()); void test() { f(1); }");
  EXPECT_EQ(call(function(unit, "test"), "f").arguments.size(), 1u);
  EXPECT_TRUE(events(function(unit, "test"), Kind::call, "g").empty());
}

TEST(Events, TemplateArguments) {
  const TranslationUnit unit = parse("template <class T, int N> T f(); void test() { f<float, 3>(); }");
  EXPECT_EQ(call(function(unit, "test"), "f").template_arguments, (std::vector<std::string>{"float", "3"}));
}

TEST(Events, ConstructorsNameTheirVariable) {
  const TranslationUnit unit = parse(R"(
    struct Options { Options(int); Options& stride(int); };
    struct Device { Device(); Device(int, int); };
    void f(Options);
    void test() { Device a; Device b(1, 2); Device c{3, 4}; auto d = Device(5, 6); f(Options(7).stride(2)); })");
  const Function& test = function(unit, "test");
  const auto devices = events(test, Kind::construct, "Device::Device");
  ASSERT_EQ(devices.size(), 4u);
  const char* names[] = {"test::a", "test::b", "test::c", "test::d"};
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(devices[i]->variable, names[i]);
  EXPECT_EQ(devices[3]->arguments.at(1).integer, 6);
  const Event& options = event(test, Kind::construct, "Options::Options");
  EXPECT_EQ(options.arguments.at(0).integer, 7);
  EXPECT_EQ(call(test, "Options::stride").receiver->event, options.id);
}

TEST(Events, Declarations) {
  const TranslationUnit unit = parse("int g(); void test() { int a = 3; float b; const auto& c = g(); static "
                                     "int d = g(); auto [e, f] = (int[2]){1, 2}; }");
  const auto declared = events(function(unit, "test"), Kind::declare);
  ASSERT_EQ(declared.size(), 6u);
  EXPECT_EQ(declared[0]->variable, "test::a");
  EXPECT_EQ(declared[0]->arguments.at(0).integer, 3);
  EXPECT_TRUE(declared[1]->arguments.empty());
  EXPECT_EQ(declared[2]->arguments.at(0).text, "g");
  EXPECT_EQ(declared[3]->text, "static");
  EXPECT_EQ(declared[5]->variable, "test::f");
}

TEST(Events, Assignments) {
  const TranslationUnit unit =
      parse("struct A { int n; }; void test(A& a, int* p, int i) { a.n = 1; p[i] += 2; *p = 3; ++i; i--; }");
  const auto assigned = events(function(unit, "test"), Kind::assign);
  ASSERT_EQ(assigned.size(), 5u);
  EXPECT_EQ(assigned[0]->receiver->text, "A::n");
  EXPECT_EQ(assigned[0]->arguments.at(0).integer, 1);
  EXPECT_EQ(assigned[1]->text, "+=");
  EXPECT_EQ(assigned[1]->receiver->text, "[]");
  EXPECT_EQ(assigned[2]->receiver->text, "*");
  EXPECT_EQ(assigned[3]->text, "++");
  EXPECT_EQ(assigned[4]->text, "--");
  EXPECT_TRUE(events(function(unit, "test"), Kind::access).empty()) << "host code";
}

TEST(Events, ConstructorInitialisersAndMemberInitialisers) {
  const TranslationUnit unit = parse(R"(
    int g(); struct Sub { Sub(int); }; struct Base { Base(int); };
    struct A : Base { int n = g(); Sub sub; int m = 4; A() : Base(1), sub(2) { g(); } };
    struct B { int seed = g(); };)");
  const Function& a = function(unit, "A::A");
  EXPECT_TRUE(a.is_constructor);
  EXPECT_EQ(a.owner, "A");
  EXPECT_EQ(event(a, Kind::construct, "Base::Base").arguments.at(0).integer, 1);
  EXPECT_EQ(event(a, Kind::construct, "Sub::Sub").variable, "A::sub");
  EXPECT_EQ(events(a, Kind::call, "g").size(), 2u);
  const auto assigned = events(a, Kind::assign);
  ASSERT_EQ(assigned.size(), 2u);
  EXPECT_EQ(assigned[0]->receiver->text, "A::n");
  EXPECT_EQ(assigned[1]->arguments.at(0).integer, 4);
  EXPECT_EQ(call(function(unit, "B::B"), "g").callee, "g") << "a class without a constructor of its own";
}

TEST(Events, LoopsNameTheirContainer) {
  const TranslationUnit unit = parse(R"(
    #include <unordered_map>
    #include <vector>
    void use(int);
    void test(std::unordered_map<int, float>& m, std::vector<int> v) {
      for (auto& [key, value] : m) use(key);
      for (auto it = m.begin(); it != m.end(); ++it) use(it->first);
      for (int x : v) use(x);
      for (int i = 0; i < 3; ++i) use(i);
      while (v.size()) use(1);
      do use(2); while (v.size());
      do { use(3); } while (0);
    })");
  const auto loops = events(function(unit, "test"), Kind::iterate);
  ASSERT_EQ(loops.size(), 6u) << "do … while (0) is no loop";
  EXPECT_EQ(loops[0]->text, "range-for");
  EXPECT_EQ(loops[0]->receiver->type.substr(0, 19), "std::unordered_map<");
  EXPECT_EQ(loops[1]->text, "for");
  EXPECT_EQ(loops[1]->receiver->text, "test::m");
  EXPECT_EQ(loops[1]->variable, "test::it");
  EXPECT_EQ(loops[2]->variable, "test::x");
  EXPECT_FALSE(loops[3]->receiver.has_value());
  EXPECT_EQ(loops[4]->text, "while");
  EXPECT_EQ(loops[5]->text, "do");
  const auto declared = events(function(unit, "test"), Kind::declare);
  EXPECT_EQ(declared.at(0)->variable, "test::key");
  EXPECT_EQ(declared.at(0)->arguments.at(0).text, "element");
  EXPECT_EQ(declared.at(0)->arguments.at(0).operands.at(0).text, "test::m");
}

TEST(Events, MacrosAreNamed) {
  const TranslationUnit unit = parse("int g(int); int h();\n#define INNER(x) g(x)\n#define CHECK(x) do { if "
                                     "(INNER(x)) return; } while (0)\nvoid test() {\n  CHECK(\n    h());\n}");
  const Event& body = call(function(unit, "test"), "g");
  EXPECT_EQ(body.macro, "CHECK");
  EXPECT_EQ(body.name.line, 5u) << "where the macro is expanded";
  const Event& argument = call(function(unit, "test"), "h");
  EXPECT_EQ(argument.name.line, 6u) << "where it is written";
}

TEST(Events, GlobalInitialisersRunInOneFunction) {
  const TranslationUnit unit = parse(
      "int g(); int a = g(); namespace n { static int b = 2; } struct S { static int c; }; int S::c = g();");
  const Function& start = function(unit, "<static-init>");
  EXPECT_EQ(events(start, Kind::call, "g").size(), 2u);
  EXPECT_EQ(events(start, Kind::declare).size(), 3u);
  EXPECT_EQ(start.blocks.at(start.entry).events.size(), start.events.size());
}

TEST(Events, UnevaluatedCodeHasNoEvents) {
  const TranslationUnit unit =
      parse("int g(); void test() { (void)sizeof(g()); using T = decltype(g()); (void)noexcept(g()); }");
  EXPECT_TRUE(function(unit, "test").events.empty());
}

TEST(Events, CallsThroughPointersNameTheVariable) {
  const TranslationUnit unit = parse("void test(int (*op)(int)) { op(1); }");
  EXPECT_EQ(call(function(unit, "test"), "test::op").arguments.at(0).integer, 1);
}

} // namespace
} // namespace reprobe::scan
