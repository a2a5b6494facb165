#include "snippet.h"

#include <functional>
#include <set>

namespace reprobe::scan {
namespace {

using Kind = Event::Kind;

const Edge& edge(const Block& block, bool when) {
  for (const Edge& edge : block.successors)
    if (edge.condition && edge.when == when)
      return edge;
  throw std::runtime_error("no such edge");
}

// Blocks that can follow `from`, itself only through a cycle.
std::set<std::uint32_t> reachable(const Function& function, std::uint32_t from) {
  std::set<std::uint32_t> seen;
  std::function<void(std::uint32_t)> go = [&](std::uint32_t block) {
    for (const Edge& edge : function.blocks[block].successors)
      if (seen.insert(edge.block).second)
        go(edge.block);
  };
  go(from);
  return seen;
}

void expect_each_event_placed(const Function& function) {
  std::set<std::uint32_t> placed;
  for (const Block& block : function.blocks)
    placed.insert(block.events.begin(), block.events.end());
  for (const Event& event : function.events)
    EXPECT_TRUE(placed.contains(event.id)) << event.callee << event.text;
}

TEST(Graph, BranchesCarryTheirCondition) {
  const TranslationUnit unit =
      parse("void a(); void b(); void c(); void test(bool flag) { if (flag) a(); else b(); c(); }");
  const Function& test = function(unit, "test");
  const Block* branch = nullptr;
  for (const Block& block : test.blocks)
    if (block.successors.size() == 2)
      branch = &block;
  ASSERT_NE(branch, nullptr);
  EXPECT_EQ(edge(*branch, true).condition->text, "test::flag");
  EXPECT_EQ(edge(*branch, true).block, block_of(test, call(test, "a")).id);
  EXPECT_EQ(edge(*branch, false).block, block_of(test, call(test, "b")).id);
  EXPECT_FALSE(reachable(test, edge(*branch, true).block).contains(edge(*branch, false).block));
  EXPECT_TRUE(reachable(test, edge(*branch, true).block).contains(block_of(test, call(test, "c")).id));
  expect_each_event_placed(test);
}

TEST(Graph, ShortCircuitsAreBranches) {
  const TranslationUnit unit = parse("bool p(); bool q(); void a(); void test() { if (p() && q()) a(); }");
  const Function& test = function(unit, "test");
  const Block& first = block_of(test, call(test, "p"));
  EXPECT_EQ(edge(first, true).condition->text, "p");
  EXPECT_EQ(edge(first, true).block, block_of(test, call(test, "q")).id);
  EXPECT_EQ(edge(block_of(test, call(test, "q")), true).block, block_of(test, call(test, "a")).id);
}

TEST(Graph, ConstantConditionsAreKnown) {
  const TranslationUnit unit = parse("void a(); void b(); void test() { if (false) a(); else b(); }");
  const Function& test = function(unit, "test");
  for (const Block& block : test.blocks)
    if (block.successors.size() == 2) {
      EXPECT_EQ(block.successors[0].condition->kind, Value::Kind::boolean);
      EXPECT_EQ(block.successors[0].condition->integer, 0);
    }
  expect_each_event_placed(test);
}

TEST(Graph, LoopsAreMarked) {
  const TranslationUnit unit = parse(R"(void a(); void b(); void c(); void d();
    void test(int n) { a(); for (int i = 0; i < n; ++i) b(); do { c(); } while (0); d(); })");
  const Function& test = function(unit, "test");
  EXPECT_FALSE(block_of(test, call(test, "a")).in_loop);
  EXPECT_TRUE(block_of(test, call(test, "b")).in_loop);
  EXPECT_FALSE(block_of(test, call(test, "c")).in_loop);
  EXPECT_FALSE(block_of(test, call(test, "d")).in_loop);
  expect_each_event_placed(test);
}

TEST(Graph, GuardsEndWithTheirScope) {
  const TranslationUnit unit = parse(R"(struct Guard { Guard(); ~Guard(); }; void a(); void b(); bool p();
    void test() { { Guard guard; if (p()) return; a(); } b(); })");
  const Function& test = function(unit, "test");
  const Event& end = event(test, Kind::destroy, "Guard::~Guard");
  EXPECT_EQ(end.variable, "test::guard");
  EXPECT_EQ(end.variable_id, event(test, Kind::construct, "Guard::Guard").variable_id);
  int places = 0;
  for (const Block& block : test.blocks)
    for (std::uint32_t each : block.events)
      places += each == end.id;
  EXPECT_EQ(places, 2) << "at the return and at the end of the scope";
  const Block& block = block_of(test, call(test, "b"));
  const auto position = [&](const Event& event) {
    return std::find(block.events.begin(), block.events.end(), event.id) - block.events.begin();
  };
  EXPECT_LT(position(call(test, "a")), position(end));
  EXPECT_LT(position(end), position(call(test, "b")));
}

TEST(Graph, SwitchesHaveLabels) {
  const TranslationUnit unit = parse("void a(); void b(); enum E { one, two }; void test(E e) { switch (e) { "
                                     "case one: a(); break; default: b(); } }");
  const Function& test = function(unit, "test");
  std::set<std::string> labels;
  for (const Block& block : test.blocks)
    for (const Edge& edge : block.successors)
      if (edge.condition) {
        labels.insert(edge.label);
        EXPECT_EQ(edge.condition->text, "test::e");
      }
  EXPECT_EQ(labels, (std::set<std::string>{"one", "default"}));
}

TEST(Graph, HandlersCanBeReached) {
  const TranslationUnit unit = parse("void a(); void b(); void test() { try { a(); } catch (...) { b(); } }");
  const Function& test = function(unit, "test");
  EXPECT_TRUE(
      reachable(test, block_of(test, call(test, "a")).id).contains(block_of(test, call(test, "b")).id));
}

TEST(Graph, EvaluationOrderInsideAnExpression) {
  const TranslationUnit unit = parse("int a(); int b(int); int c(int); void test() { c(b(a())); }");
  const Function& test = function(unit, "test");
  const std::vector<std::uint32_t> expected = {call(test, "a").id, call(test, "b").id, call(test, "c").id};
  EXPECT_EQ(block_of(test, call(test, "a")).events, expected);
}

TEST(Graph, ConstructorInitialisersComeFirst) {
  const TranslationUnit unit =
      parse("int g(); void h(); struct A { int n; int m = 2; A() : n(g()) { h(); } };");
  const Function& a = function(unit, "A::A");
  const Block& block = block_of(a, call(a, "h"));
  ASSERT_EQ(block.events.size(), 4u);
  EXPECT_EQ(block.events.front(), call(a, "g").id);
  EXPECT_EQ(block.events.back(), call(a, "h").id);
}

TEST(Graph, ExitIsReachedFromTheEntry) {
  const TranslationUnit unit = parse("int test(int x) { while (x > 3) --x; return x; }");
  const Function& test = function(unit, "test");
  EXPECT_TRUE(reachable(test, test.entry).contains(test.exit));
  EXPECT_TRUE(test.blocks[test.exit].successors.empty());
}

TEST(Graph, OddCodeKeepsEveryEvent) {
  const TranslationUnit unit = parse(R"(int g(int); struct T { ~T(); int operator()(int); };
    int test(int x) {
      T t;
      int y = x ? g(1) : g(2);
      y = ({ int z = g(3); z; });
      if (int k = g(4); k && (g(5) || !g(6))) goto end;
      switch (y) { case 1: g(7); [[fallthrough]]; case 2: { T inner; g(8); } }
      for (;;) { if (g(9)) break; else continue; }
    end:
      return t(g(10)) ?: g(11);
    })");
  const Function& test = function(unit, "test");
  EXPECT_EQ(events(test, Kind::call, "g").size(), 11u);
  expect_each_event_placed(test);
}

} // namespace
} // namespace reprobe::scan
