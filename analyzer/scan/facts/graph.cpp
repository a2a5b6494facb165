// Clang's control flow graph over the events that events.cpp found.
#include "analyzer/scan/facts/lower.h"

#include <clang/AST/DeclTemplate.h>

#include <algorithm>

namespace reprobe::scan {
using namespace clang;

namespace {

constexpr std::size_t kMostBlocks = 50000;

CFG::BuildOptions build_options() {
  CFG::BuildOptions options;
  options.setAllAlwaysAdd(); // each call is an element of its own, in evaluation order
  options.PruneTriviallyFalseEdges = false;
  options.AddInitializers = true;
  options.AddImplicitDtors = true;
  options.AddCXXDefaultInitExprInCtors = true;
  return options;
}

// `while (false)` and its kin: the edge is there, nobody takes it.
bool is_taken(const Edge& edge) {
  if (!edge.condition || !edge.label.empty())
    return true;
  const Value& condition = *edge.condition;
  if (condition.kind != Value::Kind::boolean && condition.kind != Value::Kind::integer)
    return true;
  return (condition.integer != 0) == edge.when;
}

// Blocks that can reach themselves: those of strongly connected components (Tarjan, without recursion).
void mark_loops(std::vector<Block>& blocks) {
  constexpr std::uint32_t kNew = ~0u;
  const auto count = static_cast<std::uint32_t>(blocks.size());
  std::vector<std::uint32_t> order(count, kNew), low(count, 0), stack;
  std::vector<bool> on_stack(count, false);
  std::uint32_t next = 0;
  struct Frame {
    std::uint32_t block;
    std::size_t edge;
  };
  for (std::uint32_t root = 0; root < count; ++root) {
    if (order[root] != kNew)
      continue;
    std::vector<Frame> frames{{root, 0}};
    while (!frames.empty()) {
      auto& [block, edge] = frames.back();
      if (edge == 0)
        order[block] = low[block] = next++, stack.push_back(block), on_stack[block] = true;
      if (edge < blocks[block].successors.size()) {
        const Edge& taken = blocks[block].successors[edge++];
        if (!is_taken(taken))
          continue;
        const std::uint32_t successor = taken.block;
        if (order[successor] == kNew)
          frames.push_back({successor, 0});
        else if (on_stack[successor])
          low[block] = std::min(low[block], order[successor]);
        if (successor == block)
          blocks[block].in_loop = true;
        continue;
      }
      const std::uint32_t done = block;
      frames.pop_back();
      if (!frames.empty())
        low[frames.back().block] = std::min(low[frames.back().block], low[done]);
      if (low[done] != order[done])
        continue;
      const bool alone = stack.back() == done;
      for (std::uint32_t member = kNew; member != done;) {
        member = stack.back();
        stack.pop_back();
        on_stack[member] = false;
        if (!alone)
          blocks[member].in_loop = true;
      }
    }
  }
}

bool contains(const Range& outer, const Range& inner) {
  return outer.begin.file == inner.begin.file && outer.begin.offset <= inner.begin.offset &&
         inner.begin.offset < outer.end.offset;
}

} // namespace

void Lowering::place(std::uint32_t event, std::uint32_t block) {
  placed_.resize(out_.events.size());
  placed_[event] = true;
  out_.blocks[block].events.push_back(event);
}

std::uint32_t Lowering::destroy_event(const VarDecl* variable, const Stmt* trigger) {
  if (auto known = destroyed_.find(variable); known != destroyed_.end())
    return known->second;
  const SourceLocation end = trigger ? trigger->getEndLoc() : variable->getEndLoc();
  Event& event = add(Event::Kind::destroy, nullptr, SourceRange(end, end), end);
  event.variable = map_.qualified_name(variable);
  event.variable_id = map_.usr(variable);
  event.result_type = map_.type_name(variable->getType());
  QualType type = variable->getType().getNonReferenceType();
  if (const auto* array = map_.context.getAsArrayType(type))
    type = array->getElementType();
  if (const auto* record = type->getAsCXXRecordDecl()) {
    event.callee = map_.qualified_name(record) + "::~" + record->getNameAsString();
    event.external = !map_.is_declared_by_user(record);
  }
  return destroyed_[variable] = event.id;
}

void Lowering::place_element(const CFGElement& element, std::uint32_t block) {
  const auto place_found = [&](const auto& table, const auto* key) {
    if (auto found = table.find(key); found != table.end())
      place(found->second, block);
  };
  if (const auto statement = element.getAs<CFGStmt>()) {
    const Stmt* what = statement->getStmt();
    place_found(accesses_, what);
    place_found(events_, what);
    if (const auto* declarations = dyn_cast<DeclStmt>(what))
      for (const Decl* declaration : declarations->decls()) {
        place_found(declarations_, declaration);
        if (const auto* decomposition = dyn_cast<DecompositionDecl>(declaration))
          for (const BindingDecl* binding : decomposition->bindings())
            place_found(declarations_, binding);
      }
  } else if (const auto initializer = element.getAs<CFGInitializer>()) {
    place_found(initializers_, static_cast<const void*>(initializer->getInitializer()));
  } else if (const auto destructor = element.getAs<CFGAutomaticObjDtor>()) {
    place(destroy_event(destructor->getVarDecl(), destructor->getTriggerStmt()), block);
  }
}

void Lowering::add_edges(const CFGBlock& block) {
  std::vector<Edge>& edges = out_.blocks[block.getBlockID()].successors;
  const Stmt* terminator = block.getTerminator().isStmtBranch() ? block.getTerminatorStmt() : nullptr;
  const bool is_switch = isa_and_nonnull<SwitchStmt>(terminator);
  const bool two_way =
      terminator && block.succ_size() == 2 &&
      isa<IfStmt, WhileStmt, DoStmt, ForStmt, CXXForRangeStmt, AbstractConditionalOperator, BinaryOperator>(
          terminator);
  std::optional<Value> condition;
  if (isa_and_nonnull<CXXForRangeStmt>(terminator)) {
    condition.emplace(); // more elements: nothing is known
  } else if (two_way || is_switch) {
    const Expr* expression = block.getLastCondition();
    if (!expression)
      expression = dyn_cast_or_null<Expr>(const_cast<CFGBlock&>(block).getTerminatorCondition());
    if (const auto* choice = dyn_cast_or_null<SwitchStmt>(terminator))
      expression = choice->getCond();
    if (expression)
      condition = value(expression);
  }
  bool when = true;
  for (const CFGBlock::AdjacentBlock& adjacent : block.succs()) {
    const CFGBlock* successor = adjacent.getReachableBlock();
    if (!successor)
      successor = adjacent.getPossiblyUnreachableBlock();
    Edge edge;
    edge.when = when;
    if (two_way)
      when = !when;
    if (!successor)
      continue;
    edge.block = successor->getBlockID();
    edge.condition = condition;
    if (is_switch) {
      if (const auto* label = dyn_cast_or_null<CaseStmt>(successor->getLabel()))
        edge.label = map_.source_text(label->getLHS()->getSourceRange());
      else if (isa_and_nonnull<DefaultStmt>(successor->getLabel()))
        edge.label = "default";
    }
    edges.push_back(std::move(edge));
  }
}

void Lowering::place_loops(const CFG& graph) {
  for (const CFGBlock* block : graph) {
    const Stmt* loop = block->getLoopTarget(); // the block that jumps back
    const auto found = loop ? loops_.find(loop) : loops_.end();
    if (found == loops_.end() || block->succ_empty())
      continue;
    const CFGBlock* head = *block->succ_begin();
    if (!head || (found->second < placed_.size() && placed_[found->second]))
      continue;
    auto& events = out_.blocks[head->getBlockID()].events;
    place(found->second, head->getBlockID());
    std::rotate(events.begin(), std::prev(events.end()), events.end());
  }
}

// What clang leaves out of its graph goes before its neighbour in source order.
void Lowering::place_rest() {
  placed_.resize(out_.events.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> place_of(out_.events.size()); // block, index
  for (const Block& block : out_.blocks)
    for (std::uint32_t i = 0; i < block.events.size(); ++i)
      place_of[block.events[i]] = {block.id, i};
  std::vector<std::uint32_t> waiting;
  const auto settle = [&](std::uint32_t block, std::uint32_t index) {
    auto& events = out_.blocks[block].events;
    events.insert(events.begin() + index, waiting.begin(), waiting.end());
    for (std::uint32_t i = index; i < events.size(); ++i)
      place_of[events[i]] = {block, i};
    for (std::uint32_t event : waiting)
      placed_[event] = true;
    waiting.clear();
  };
  for (std::uint32_t event = 0; event < out_.events.size(); ++event) {
    if (!placed_[event])
      waiting.push_back(event);
    else if (!waiting.empty() && out_.events[event].kind != Event::Kind::destroy)
      settle(place_of[event].first, place_of[event].second);
  }
  if (!waiting.empty()) {
    std::uint32_t last = out_.entry;
    for (std::uint32_t event = waiting.front(); event-- > 0;)
      if (placed_[event]) {
        last = place_of[event].first;
        break;
      }
    settle(last, static_cast<std::uint32_t>(out_.blocks[last].events.size()));
  }
}

void Lowering::straight_line() {
  out_.blocks.assign(2, {});
  out_.blocks[1].id = 1;
  out_.exit = 0, out_.entry = 1;
  for (const Event& event : out_.events)
    out_.blocks[1].events.push_back(event.id);
  out_.blocks[1].successors.push_back({});
}

void Lowering::build_graph(const Decl* declaration, Stmt* body) {
  const std::unique_ptr<CFG> graph = CFG::buildCFG(declaration, body, &map_.context, build_options());
  if (!graph || graph->getNumBlockIDs() > kMostBlocks)
    return;
  out_.blocks.resize(graph->getNumBlockIDs());
  for (std::uint32_t id = 0; id < out_.blocks.size(); ++id)
    out_.blocks[id].id = id;
  out_.entry = graph->getEntry().getBlockID();
  out_.exit = graph->getExit().getBlockID();
  for (const CFGBlock* block : *graph) {
    for (const CFGElement& element : *block)
      place_element(element, block->getBlockID());
    add_edges(*block);
  }
  place_loops(*graph);
  place_rest();
  // Anything in a try block may throw: clang would cut a block at each call, one edge a block is enough here.
  for (const CFGBlock* handler : graph->try_blocks()) {
    const auto* attempt = dyn_cast_or_null<CXXTryStmt>(handler->getTerminatorStmt());
    if (!attempt)
      continue;
    const Range tried = map_.range(attempt->getTryBlock()->getSourceRange());
    for (Block& block : out_.blocks) {
      const bool inside = std::any_of(block.events.begin(), block.events.end(), [&](std::uint32_t event) {
        return contains(tried, out_.events[event].range);
      });
      if (!inside || block.id == handler->getBlockID())
        continue;
      Edge edge;
      edge.block = handler->getBlockID();
      edge.label = "exception";
      block.successors.push_back(std::move(edge));
    }
  }
  mark_loops(out_.blocks);
}

void Lowering::lower(const FunctionDecl* function, bool with_graph) {
  if (const auto* constructor = dyn_cast<CXXConstructorDecl>(function))
    for (const CXXCtorInitializer* initializer : constructor->inits())
      visit_initializer(initializer);
  Stmt* body = function->getBody();
  visit(body);
  if (with_graph && !function->isDependentContext() && !is_full() && body)
    build_graph(function, body);
}

void Lowering::lower(const std::vector<const ValueDecl*>& variables) {
  for (const ValueDecl* variable : variables) {
    const Expr* initializer = nullptr;
    if (const auto* global = dyn_cast<VarDecl>(variable))
      initializer = global->getInit();
    else if (const auto* field = dyn_cast<FieldDecl>(variable))
      initializer = field->getInClassInitializer();
    if (initializer)
      visit_variable(variable, initializer);
  }
  straight_line();
}

} // namespace reprobe::scan
