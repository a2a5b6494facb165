#include "rules/error.h"
#include "snippet.h"

#include <set>

namespace reprobe::scan {
namespace {

using Kind = Event::Kind;

TEST(Extract, TemplatesOfTheUserAreInstantiated) {
  const TranslationUnit unit = parse(R"(struct L { int size(); }; int helper(int);
    template <class Loader> void train(Loader& loader) { helper(loader.size()); }
    template <class T> struct Net { void step() { T().size(); } };
    template <class T> void never(T x) { helper(1); x.run(2); }
    int main() { L l; train(l); Net<L>().step(); })");
  const Function& train = function(unit, "train");
  EXPECT_FALSE(train.is_template_pattern);
  EXPECT_EQ(call(train, "L::size").receiver->type, "L");
  EXPECT_EQ(call(function(unit, "Net::step"), "L::size").callee, "L::size");
  EXPECT_TRUE(function(unit, "main").is_main);
  const Function& never = function(unit, "never");
  EXPECT_TRUE(never.is_template_pattern);
  EXPECT_EQ(call(never, "helper").arguments.at(0).integer, 1);
  const Event& run = call(never, "run");
  EXPECT_FALSE(run.resolved);
  EXPECT_EQ(run.receiver->text, "never::x");
  EXPECT_EQ(unit.status, "full");
}

TEST(Extract, OneFunctionForEachInstantiation) {
  const TranslationUnit unit = parse(
      "void g(int); void g(float); template <class T> void f(T x) { g(x); } void test() { f(1); f(1.f); }");
  int instances = 0;
  for (const Function& each : unit.functions)
    instances += each.name == "f" && !each.is_template_pattern;
  EXPECT_EQ(instances, 2);
}

TEST(Extract, GenericLambdasAreSeenWhetherCalledOrNot) {
  const TranslationUnit unit = parse(R"(int helper(int); template <class F> void each(F);
    void test() { auto called = [](auto x) { return helper(x); }; called(1); each([](auto x) { helper(2); return x; }); })");
  int bodies = 0;
  for (const Function& each : unit.functions)
    if (each.is_lambda) {
      ++bodies;
      EXPECT_EQ(events(each, Kind::call, "helper").size(), 1u);
    }
  EXPECT_EQ(bodies, 2);
}

TEST(Extract, LambdasInMacroArgumentsAreToldApart) {
  const TranslationUnit unit = parse(R"(int helper(int);
    #define BOTH(...) do { { using scalar_t = float; __VA_ARGS__(); } { using scalar_t = double; __VA_ARGS__(); } } while (0)
    void test() { BOTH([&] { scalar_t x = 1; helper(x); }); })");
  std::vector<std::string> names;
  for (const Function& each : unit.functions)
    if (each.is_lambda) {
      names.push_back(each.usr);
      EXPECT_EQ(each.owner, function(unit, "test").usr);
    }
  ASSERT_EQ(names.size(), 2u);
  EXPECT_NE(names[0], names[1]);
}

TEST(Extract, UndeclaredThingsAreReportedAsWritten) {
  const TranslationUnit unit = parse(R"(int helper(int);
    void test() {
      nosuch(helper(1));
      auto image = cv::imread("x", helper(2));
      torch::cuda::manual_seed(helper(3));
      model.train(helper(4));
      helper(5);
      helper(UNDECLARED + helper(6));
    })");
  const Function& test = function(unit, "test");
  EXPECT_FALSE(call(test, "nosuch").resolved);
  EXPECT_EQ(call(test, "cv::imread").arguments.at(0).text, "x");
  EXPECT_FALSE(call(test, "torch::cuda::manual_seed").resolved);
  EXPECT_TRUE(call(test, "torch::cuda::manual_seed").external);
  std::set<std::int64_t> seen;
  for (const Event* each : events(test, Kind::call, "helper"))
    if (!each->arguments.empty() && each->arguments[0].kind == Value::Kind::integer)
      seen.insert(each->arguments[0].integer);
  EXPECT_EQ(seen, (std::set<std::int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(unit.status, "partial");
  EXPECT_GE(unit.errors, 4u);
  EXPECT_NE(unit.reason.find("main.cpp:3"), std::string::npos) << unit.reason;
}

TEST(Extract, MissingHeadersAreNamedAndTheRestIsKept) {
  const TranslationUnit unit =
      parse("#include <nowhere/at_all.hpp>\n#include \"gone.h\"\nvoid f(); void test() { f(); }");
  EXPECT_EQ(unit.status, "partial");
  EXPECT_EQ(unit.missing_headers, (std::vector<std::string>{"nowhere/at_all.hpp", "gone.h"}));
  EXPECT_EQ(call(function(unit, "test"), "f").callee, "f");
  EXPECT_EQ(unit.includes.size(), 2u);
}

TEST(Extract, TemplatesAreInstantiatedInSpiteOfErrors) {
  const TranslationUnit unit = parse("#include <gone.h>\nvoid g(int); template <class T> void f(T x) { g(x); "
                                     "} void test() { f(1); nosuch(); }");
  EXPECT_FALSE(function(unit, "f").is_template_pattern);
}

TEST(Extract, OnlyTheUsersOwnFunctions) {
  Snippet snippet;
  snippet.files["own.h"] = "#pragma once\nint g(); inline void own() { g(); }";
  snippet.files["system/lib.h"] = "#pragma once\nint g(); inline void foreign() { g(); }";
  snippet.files["third_party/other.h"] = "#pragma once\nint g(); inline void other() { g(); }";
  snippet.arguments.push_back("-I/code");
  const TranslationUnit unit =
      snippet.parse("#include \"own.h\"\n#include <lib.h>\n#include \"third_party/other.h\"\nvoid test() { "
                    "own(); foreign(); other(); }");
  ASSERT_EQ(unit.functions.size(), 2u);
  EXPECT_EQ(call(function(unit, "own"), "g").callee, "g");
  const Function& test = function(unit, "test");
  EXPECT_FALSE(call(test, "own").external);
  EXPECT_TRUE(call(test, "foreign").external);
  EXPECT_TRUE(call(test, "other").external);
  EXPECT_EQ(unit.functions[0].range.begin.line, 2u);
  EXPECT_EQ(unit.files.at(unit.functions[0].range.begin.file).path, "own.h");
}

TEST(Extract, EveryFileOfTheUsersIsListedWithItsDigest) {
  Snippet snippet;
  snippet.files["macros.h"] = "#define SEED 42\n"; // nothing in it has a place of its own
  snippet.files["system/lib.h"] = "int foreign();\n";
  snippet.files["third_party/other.h"] = "int other();\n";
  snippet.arguments.push_back("-I/code");
  const TranslationUnit unit = snippet.parse(
      "#include \"macros.h\"\n#include <lib.h>\n#include \"third_party/other.h\"\nint seed = SEED;\n");
  std::map<std::string, std::string> digests;
  for (const SourceFile& file : unit.files)
    if (file.user)
      digests[file.path] = file.digest;
  ASSERT_EQ(digests.size(), 2u);
  EXPECT_EQ(digests.at("macros.h").size(), 16u);
  snippet.files["macros.h"] = "#define SEED 43\n";
  for (const SourceFile& file : snippet.parse("#include \"macros.h\"\n").files) {
    if (file.path == "macros.h") {
      EXPECT_NE(file.digest, digests.at("macros.h"));
    }
  }
}

TEST(Extract, ConstantsSayWhereTheyAreWritten) {
  const std::string code = "enum mode { FAST, SLOW };\nvoid f(bool, mode);\n#define IN_BODY FAST\n"
                           "#define CALL(x) do { x; } while (0)\nvoid plain() { f(true, ::FAST); }\n"
                           "void argument() { CALL(f( true , SLOW)); }\nvoid body() { f(true, IN_BODY); }\n";
  const TranslationUnit unit = parse(code);
  const auto written = [&](const std::string& name, std::size_t index) {
    const Value& value = event(function(unit, name), Event::Kind::call, "f").arguments.at(index);
    return code.substr(value.at.offset, value.length);
  };
  EXPECT_EQ(written("plain", 0), "true");
  EXPECT_EQ(written("plain", 1), "::FAST");
  EXPECT_EQ(written("argument", 0), "true");
  EXPECT_EQ(written("argument", 1), "SLOW");
  EXPECT_EQ(written("body", 1), "IN_BODY"); // as this use has it
}

TEST(Extract, ConstantsOfConstexprFunctionsInHeaders) {
  Snippet snippet;
  snippet.files["system/lib.h"] =
      "#pragma once\nconstexpr int six() { return 6; } inline auto seven() { return 7; }";
  const TranslationUnit unit =
      snippet.parse("#include <lib.h>\nvoid f(int); void test() { f(six()); int x = seven(); }");
  EXPECT_EQ(argument(unit).integer, 6);
  EXPECT_EQ(unit.status, "full") << unit.reason;
}

TEST(Extract, PlainC) {
  Snippet snippet;
  snippet.arguments = {"-x", "c"};
  const TranslationUnit unit =
      snippet.parse("#include <stdlib.h>\nvoid test(void) { srand(3); int *class = malloc(4); }");
  EXPECT_EQ(unit.language, "c");
  EXPECT_EQ(call(function(unit, "test"), "srand").arguments.at(0).integer, 3);
  EXPECT_EQ(unit.status, "full") << unit.reason;
}

TEST(Extract, VersionsOfTheHeadersThatWereSeen) {
  Snippet snippet;
  snippet.files["system/torch/torch.h"] = "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR "
                                          "9\n#define TORCH_VERSION_PATCH 1\n#define CUDART_VERSION 12060\n";
  const TranslationUnit unit = snippet.parse("#include <torch/torch.h>\nint x;");
  EXPECT_EQ(unit.libtorch_version, "2.9.1");
  EXPECT_EQ(unit.cuda_version, "12.6");
  EXPECT_EQ(unit.includes, std::vector<std::string>{"torch/torch.h"});
}

TEST(Extract, HostilePragmasDoNotCrash) {
  const TranslationUnit unit =
      parse("#pragma clang __debug crash\n#pragma clang __debug overflow_stack\n#pragma clang __debug "
            "parser_crash\nvoid f(); void test() { f(); }");
  EXPECT_EQ(call(function(unit, "test"), "f").callee, "f");
}

TEST(Extract, BrokenSourcesStillGiveAUnit) {
  for (const char* code :
       {"", "}}}}", "void test() { if (", "template <class T", "class A { class B {", "#if 1\nint x;",
        "void test() { [](auto){ return }; }", "int a[", "struct A { A() : x( }; ",
        "void f() { Unknown x(1, 2), y{3, {4}}; Unknown z = {1, {2}}; }",
        "template <class T> void f() { T x(1, 2); typename T::type y{1, {2, 3}}; Unknown<T> z(1, 2); }",
        "void f(auto... x) { (x + ..."})
    EXPECT_NE(parse(code).status, "failed") << code;
}

TEST(Extract, OtherEncodingsFail) {
  for (const std::string& code :
       {std::string("\xff\xfe"), std::string("\xfe\xff\0i", 4), std::string("\0\0\xfe\xff", 4)})
    EXPECT_EQ(parse(code).status, "failed");
  EXPECT_EQ(parse("\xef\xbb\xbfvoid f(); void test() { f(); }").status, "full")
      << "UTF-8 with a byte order mark";
}

TEST(Extract, UnknownNamespacesKeepTheirStatements) {
  const TranslationUnit unit = parse(R"(#include <opencv2/opencv.hpp>
    int helper(int); void take(double);
    void test() {
      cv::Mat image = cv::imread("x", helper(1)), other(helper(2));
      if (image.empty()) helper(3);
      cv::cuda::setDevice(helper(4));
      std::vector<cv::Point2f> points;
      cv::Mat zero = cv::Mat::zeros(helper(5), cv::COLOR_BGR2RGB);
      take(zero.rows + helper(6));
      return torch::cumsum(image, 0) + helper(7);
    })");
  const Function& test = function(unit, "test");
  EXPECT_FALSE(call(test, "cv::imread").resolved);
  EXPECT_EQ(call(test, "cv::imread").result_type, "");
  EXPECT_EQ(call(test, "empty").receiver->text, "test::image");
  EXPECT_EQ(call(test, "cv::cuda::setDevice").arguments.size(), 1u);
  EXPECT_FALSE(call(test, "torch::cumsum").resolved);
  std::set<std::int64_t> seen;
  for (const Event* each : events(test, Kind::call, "helper"))
    seen.insert(each->arguments.at(0).integer);
  EXPECT_EQ(seen, (std::set<std::int64_t>{1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(unit.missing_headers, std::vector<std::string>{"opencv2/opencv.hpp"});
}

TEST(Extract, UnusableCommandLineFails) {
  Snippet snippet;
  snippet.arguments = {"-x", "nonsense"};
  const TranslationUnit unit = snippet.parse("int x;");
  EXPECT_EQ(unit.status, "failed");
  EXPECT_FALSE(unit.reason.empty());
  EXPECT_THROW(extract(ParseRequest{}), Error);
}

TEST(Extract, BuiltinsFirstUsedByAnInstantiation) {
  const TranslationUnit unit = parse("template <class T> T f(T* x) { return __sync_add_and_fetch(x, 1); }\n"
                                     "int g(long long* x) { return f(x); }\nint g(int* x) { return f(x); }\n");
  EXPECT_EQ(unit.status, "full");
  EXPECT_FALSE(events(function(unit, "f"), Event::Kind::call).empty());
}

TEST(Extract, TypesWhoseNamesGrowWithoutBound) {
  std::string code = "template <class... T> struct Foo { template <class... U> static void ignore() {} "
                     "Foo() { ignore<T...>(); } };\nstruct Base { Base(); ~Base(); };\nusing T0 = Base;\n";
  for (int i = 1; i <= 12; ++i) {
    const std::string before = "T" + std::to_string(i - 1);
    code += "using T" + std::to_string(i) + " = Foo<";
    for (int j = 0; j < 20; ++j)
      code += (j ? ", " : "") + before;
    code += ">;\n";
  }
  code += "int main() { T12 last; T1 first; }\n";
  const TranslationUnit unit = parse(code);
  EXPECT_EQ(unit.status, "full");
  const Function& main = function(unit, "main");
  std::map<std::string, std::string> types;
  for (const Event& event : main.events)
    if (event.kind == Event::Kind::construct)
      types[event.variable] = event.result_type;
  EXPECT_EQ(types["main::last"], "Foo<...>");
  EXPECT_TRUE(types["main::first"].starts_with("Foo<Base, Base"));
}

TEST(Extract, GraphsCanBeLeftOut) {
  ParseRequest request;
  request.directory = "/", request.root = "/code", request.main_file = "/code/main.cpp",
  request.graphs = false;
  request.command = {"clang++", "-fsyntax-only", "/code/main.cpp"};
  request.virtual_files["/code/main.cpp"] = "int g(); void test() { g(); }";
  const TranslationUnit unit = extract(request);
  EXPECT_TRUE(function(unit, "test").blocks.empty());
  EXPECT_EQ(function(unit, "test").events.size(), 1u);
}

TEST(Extract, FactsSurviveJson) {
  const std::string once = to_json(
      parse("#include <vector>\nint g(int); void test(std::vector<int> v) { for (int x : v) if (x) g(x); }"));
  EXPECT_EQ(to_json(from_json(once, "test")), once);
}

} // namespace
} // namespace reprobe::scan
