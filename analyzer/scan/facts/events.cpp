// What a function's body does, in source order: inner expressions before the outer ones.
#include "analyzer/scan/facts/lower.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprConcepts.h>

#include <algorithm>

namespace reprobe::scan {
using namespace clang;

namespace {

constexpr std::size_t kMostEvents = 100000; // of one function: generated tables must not fill the memory
constexpr std::size_t kLongestAssembly = 4000;

std::vector<const Expr*> written_arguments(llvm::ArrayRef<const Expr*> arguments) {
  std::vector<const Expr*> out;
  for (const Expr* argument : arguments)
    if (argument && !isa<CXXDefaultArgExpr>(argument))
      out.push_back(argument);
  return out;
}

std::vector<const Expr*> arguments_from(const CallExpr* call, unsigned first) {
  std::vector<const Expr*> out;
  for (unsigned i = first; i < call->getNumArgs(); ++i)
    out.push_back(call->getArg(i));
  return written_arguments(out);
}

// The constructor call that makes the variable itself, if there is one.
const Expr* initializing_construct(const Expr* initializer) {
  const Expr* expression = plain(initializer);
  while (const auto* cast = dyn_cast_or_null<CXXFunctionalCastExpr>(expression))
    expression = plain(cast->getSubExpr());
  if (isa_and_nonnull<CXXConstructExpr>(expression))
    return expression;
  if (const auto* list = dyn_cast_or_null<InitListExpr>(expression);
      list && !list->getType().isNull() && list->getType()->isRecordType())
    return list;
  return nullptr;
}

const char* storage_of(const ValueDecl* declared) {
  const auto* variable = dyn_cast<VarDecl>(declared);
  if (variable && variable->getTLSKind() != VarDecl::TLS_None)
    return "thread_local";
  if (variable && variable->hasAttr<CUDASharedAttr>())
    return "shared";
  if (variable && variable->isStaticLocal())
    return "static";
  return declared->getType()->isReferenceType() ? "reference" : "";
}

// `c.begin()` or `std::begin(c)`: the container.
const Expr* begun_container(const Expr* initializer) {
  const Expr* expression = plain(initializer);
  const auto* call = dyn_cast_or_null<CallExpr>(expression);
  const FunctionDecl* callee = call ? call->getDirectCallee() : nullptr;
  if (!callee || !callee->getIdentifier())
    return nullptr;
  const StringRef name = callee->getName();
  if (name != "begin" && name != "cbegin" && name != "rbegin" && name != "crbegin")
    return nullptr;
  if (const auto* member = dyn_cast<CXXMemberCallExpr>(call))
    return member->getImplicitObjectArgument();
  return call->getNumArgs() == 1 ? call->getArg(0) : nullptr;
}

bool is_unevaluated(const Stmt* statement) {
  return isa<UnaryExprOrTypeTraitExpr, CXXNoexceptExpr, RequiresExpr, SizeOfPackExpr, TypeTraitExpr,
             OffsetOfExpr, ConceptSpecializationExpr, CXXDefaultArgExpr, CXXTypeidExpr>(statement);
}

// `namespace::name` or `name` before the last parenthesised group of `text`: where it starts and ends, and
// where the group starts.
struct WrittenCall {
  std::size_t begin = 0, end = 0, parenthesis = 0;
  bool member = false;
};

std::optional<WrittenCall> written_call(StringRef text) {
  text = text.rtrim();
  if (text.empty() || text.back() != ')')
    return std::nullopt;
  int depth = 0;
  std::size_t open = text.size();
  while (open > 0) {
    const char c = text[--open];
    if (c == ')' || c == ']' || c == '}')
      ++depth;
    if (c == '(' || c == '[' || c == '{')
      if (--depth == 0)
        break;
  }
  if (depth != 0)
    return std::nullopt;
  std::size_t end = text.take_front(open).rtrim().size();
  if (end > 0 && text[end - 1] == '>') { // template arguments
    int angle = 0;
    while (end > 0) {
      const char c = text[--end];
      if (c == '>')
        ++angle;
      if (c == '<' && --angle == 0)
        break;
    }
    if (angle != 0)
      return std::nullopt;
    end = text.take_front(end).rtrim().size();
  }
  std::size_t begin = end;
  while (begin > 0 && (isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_' ||
                       text[begin - 1] == ':' || text[begin - 1] == '~'))
    --begin;
  if (begin == end || isdigit(static_cast<unsigned char>(text[begin])))
    return std::nullopt;
  const StringRef before = text.take_front(begin).rtrim();
  return WrittenCall{begin, end, open, before.ends_with(".") || before.ends_with("->")};
}

} // namespace

bool Lowering::is_full() const {
  return out_.events.size() >= kMostEvents;
}

Event& Lowering::add(Event::Kind kind, const Stmt* statement, SourceRange range, SourceLocation name) {
  Event event;
  event.kind = kind;
  event.id = static_cast<std::uint32_t>(out_.events.size());
  event.range = map_.range(range);
  event.name = map_.position(name.isValid() ? name : range.getBegin());
  event.macro = map_.outermost_macro(range.getBegin());
  if (statement)
    event.result_used = !discarded_.contains(statement);
  out_.events.push_back(std::move(event));
  return out_.events.back();
}

void Lowering::discard(const Stmt* statement) {
  const auto* expression = dyn_cast_or_null<Expr>(statement);
  while (expression) {
    discarded_.insert(expression);
    const Expr* inner = plain(expression);
    if (const auto* cast = dyn_cast<ExplicitCastExpr>(inner); cast && cast->getType()->isVoidType())
      inner = cast->getSubExpr();
    if (inner == expression)
      break;
    expression = inner;
  }
}

std::vector<Value> Lowering::arguments_of(llvm::ArrayRef<const Expr*> arguments) {
  std::vector<Value> out;
  for (const Expr* argument : arguments)
    out.push_back(value(argument));
  return out;
}

void Lowering::visit_children(const Stmt* statement) {
  for (const Stmt* child : statement->children())
    visit(child);
}

void Lowering::visit(const Stmt* statement) {
  if (!statement || is_full() || is_unevaluated(statement))
    return;

  if (const auto* block = dyn_cast<CompoundStmt>(statement)) {
    for (const Stmt* child : block->body())
      discard(child), visit(child);
  } else if (const auto* branch = dyn_cast<IfStmt>(statement)) {
    discard(branch->getThen()), discard(branch->getElse()), visit_children(statement);
  } else if (const auto* label = dyn_cast<LabelStmt>(statement)) {
    discard(label->getSubStmt()), visit(label->getSubStmt());
  } else if (const auto* label = dyn_cast<SwitchCase>(statement)) {
    discard(label->getSubStmt()), visit(label->getSubStmt());
  } else if (const auto* attributed = dyn_cast<AttributedStmt>(statement)) {
    discard(attributed->getSubStmt()), visit(attributed->getSubStmt());
  } else if (const auto* range = dyn_cast<CXXForRangeStmt>(statement)) {
    visit_range_for(range);
  } else if (isa<ForStmt, WhileStmt, DoStmt>(statement)) {
    visit_loop(statement);
  } else if (const auto* declarations = dyn_cast<DeclStmt>(statement)) {
    for (const Decl* declaration : declarations->decls())
      if (const auto* variable = dyn_cast<VarDecl>(declaration))
        visit_variable(variable, variable->getInit());
  } else if (const auto* lambda = dyn_cast<LambdaExpr>(statement)) {
    for (const LambdaCapture& capture : lambda->captures())
      if (lambda->isInitCapture(&capture))
        if (const auto* variable = dyn_cast<VarDecl>(capture.getCapturedVar()))
          visit_variable(variable, variable->getInit());
  } else if (const auto* member = dyn_cast<CXXDefaultInitExpr>(statement)) {
    visit(member->getExpr());
  } else if (const auto* recovery = dyn_cast<RecoveryExpr>(statement)) {
    visit_children(statement);
    add_recovery(recovery);
  } else if (const auto* launch = dyn_cast<CUDAKernelCallExpr>(statement)) {
    // The configuration is wrapped in a call that nobody wrote.
    if (const CallExpr* configuration = launch->getConfig())
      for (const Expr* argument : configuration->arguments())
        visit(argument);
    for (const Expr* argument : launch->arguments())
      visit(argument);
    add_call(launch);
  } else if (const auto* call = dyn_cast<CallExpr>(statement)) {
    visit_children(statement);
    add_call(call);
  } else if (const auto* construct = dyn_cast<CXXConstructExpr>(statement)) {
    visit_children(statement);
    if (isa<CXXTemporaryObjectExpr>(construct) || initializes_.contains(construct) ||
        written_.contains(construct))
      add_construct(construct, construct->getConstructor(), construct->getType());
  } else if (const auto* inherited = dyn_cast<CXXInheritedCtorInitExpr>(statement)) {
    add_construct(inherited, inherited->getConstructor(), inherited->getType());
  } else if (const auto* construct = dyn_cast<CXXUnresolvedConstructExpr>(statement)) {
    visit_children(statement);
    add_dependent_construct(construct);
  } else if (const auto* list = dyn_cast<InitListExpr>(statement)) {
    const InitListExpr* semantic =
        list->isSemanticForm() || !list->getSemanticForm() ? list : list->getSemanticForm();
    for (const Expr* element : semantic->inits())
      visit(element);
    if (initializes_.contains(list))
      add_aggregate(list);
  } else if (const auto* cast = dyn_cast<CXXFunctionalCastExpr>(statement)) {
    written_.insert(cast->getSubExpr()->IgnoreImplicit()); // T(x): a constructor call that somebody wrote
    visit_children(statement);
  } else if (const auto* fresh = dyn_cast<CXXNewExpr>(statement)) {
    if (fresh->getConstructExpr())
      written_.insert(fresh->getConstructExpr());
    visit_children(statement);
  } else if (const auto* binary = dyn_cast<BinaryOperator>(statement)) {
    if (binary->getOpcode() == BO_Comma)
      discard(binary->getLHS());
    if (binary->isAssignmentOp())
      written_.insert(plain(binary->getLHS()));
    visit_children(statement);
    if (binary->isAssignmentOp())
      add_assignment(binary, binary->getLHS(), binary->getRHS(), binary->getOpcodeStr().str(),
                     binary->getOperatorLoc());
  } else if (const auto* unary = dyn_cast<UnaryOperator>(statement)) {
    if (unary->isIncrementDecrementOp())
      written_.insert(plain(unary->getSubExpr()));
    if (unary->getOpcode() == UO_AddrOf)
      addressed_.insert(plain(unary->getSubExpr()));
    visit_children(statement);
    if (unary->isIncrementDecrementOp())
      add_assignment(unary, unary->getSubExpr(), nullptr,
                     UnaryOperator::getOpcodeStr(unary->getOpcode()).str(), unary->getOperatorLoc());
    else if (unary->getOpcode() == UO_Deref)
      add_access(unary, unary->getSubExpr(), nullptr);
  } else if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(statement)) {
    visit_children(statement);
    add_access(subscript, subscript->getBase(), subscript->getIdx());
  } else if (const auto* assembly = dyn_cast<GCCAsmStmt>(statement)) {
    visit_children(statement);
    add_assembly(assembly);
  } else if (const auto* pseudo = dyn_cast<PseudoObjectExpr>(statement)) {
    visit(pseudo->getSyntacticForm());
  } else if (const auto* leave = dyn_cast<ReturnStmt>(statement)) {
    visit_children(statement);
    if (leave->getRetValue())
      add_return(leave);
  } else if (isa<OpaqueValueExpr>(statement)) {
    // Its source is visited where it is written.
  } else {
    visit_children(statement);
  }
}

void Lowering::visit_variable(const ValueDecl* variable, const Expr* initializer) {
  if (const Expr* construct = initializer ? initializing_construct(initializer) : nullptr) {
    if (!initializes_.contains(construct))
      initializes_[construct] = variable;
    visit(initializer);
    if (events_.contains(construct))
      return;
  } else {
    visit(initializer);
  }
  const auto* decomposition = dyn_cast<DecompositionDecl>(variable);
  const auto declare = [&](const ValueDecl* declared) {
    Event& event = add(Event::Kind::declare, nullptr, variable->getSourceRange(), declared->getLocation());
    event.variable = map_.qualified_name(declared);
    event.variable_id = map_.usr(declared);
    if (is_trustworthy(variable))
      event.result_type = map_.type_name(declared->getType());
    event.text = storage_of(variable);
    declarations_[declared] = event.id;
    if (initializer)
      event.arguments.push_back(value(initializer));
  };
  if (!decomposition)
    return declare(variable);
  for (const BindingDecl* binding : decomposition->bindings())
    declare(binding);
}

void Lowering::visit_range_for(const CXXForRangeStmt* loop) {
  visit(loop->getInit());
  const Expr* range = loop->getRangeInit();
  visit(range);
  Event& event = add(Event::Kind::iterate, nullptr, SourceRange(loop->getBeginLoc(), loop->getRParenLoc()),
                     loop->getForLoc());
  const std::uint32_t id = event.id;
  event.text = "range-for";
  if (range)
    event.receiver = value(range);
  if (const DeclStmt* statement = loop->getRangeStmt(); statement && statement->isSingleDecl())
    declarations_[statement->getSingleDecl()] = id;
  if (const VarDecl* variable = loop->getLoopVariable()) {
    if (!isa<DecompositionDecl>(variable)) {
      event.variable = map_.qualified_name(variable);
      event.variable_id = map_.usr(variable);
    }
    const Value container = event.receiver.value_or(Value{});
    const auto declare = [&](const ValueDecl* declared) {
      Event& element =
          add(Event::Kind::declare, nullptr, variable->getSourceRange(), declared->getLocation());
      element.variable = map_.qualified_name(declared);
      element.variable_id = map_.usr(declared);
      if (is_trustworthy(variable))
        element.result_type = map_.type_name(declared->getType());
      Value value;
      value.kind = Value::Kind::compound;
      value.text = "element";
      value.type = element.result_type;
      value.operands.push_back(container);
      element.arguments.push_back(std::move(value));
      declarations_[declared] = element.id;
    };
    if (const auto* decomposition = dyn_cast<DecompositionDecl>(variable))
      for (const BindingDecl* binding : decomposition->bindings())
        declare(binding);
    else
      declare(variable);
  }
  discard(loop->getBody());
  visit(loop->getBody());
}

void Lowering::visit_loop(const Stmt* statement) {
  const auto start = [&](const char* spelling, SourceLocation end) -> Event& {
    Event& event = add(Event::Kind::iterate, nullptr, SourceRange(statement->getBeginLoc(), end),
                       statement->getBeginLoc());
    event.text = spelling;
    loops_[statement] = event.id;
    return event;
  };
  if (const auto* loop = dyn_cast<ForStmt>(statement)) {
    discard(loop->getInit()), visit(loop->getInit());
    Event& event = start("for", loop->getRParenLoc());
    if (const auto* declarations = dyn_cast_or_null<DeclStmt>(loop->getInit()))
      for (const Decl* declaration : declarations->decls())
        if (const auto* variable = dyn_cast<VarDecl>(declaration); variable && !event.receiver) {
          const Expr* container = begun_container(variable->getInit());
          if (!container)
            continue;
          event.receiver = value(container);
          event.variable = map_.qualified_name(variable);
          event.variable_id = map_.usr(variable);
        }
    if (const DeclStmt* condition = loop->getConditionVariableDeclStmt())
      visit(condition);
    visit(loop->getCond());
    discard(loop->getBody()), visit(loop->getBody());
    discard(loop->getInc()), visit(loop->getInc());
  } else if (const auto* loop = dyn_cast<WhileStmt>(statement)) {
    start("while", loop->getRParenLoc());
    if (const DeclStmt* condition = loop->getConditionVariableDeclStmt())
      visit(condition);
    visit(loop->getCond());
    discard(loop->getBody()), visit(loop->getBody());
  } else if (const auto* loop = dyn_cast<DoStmt>(statement)) {
    Value again; // macros are wrapped in do { … } while (0), which is no loop
    const bool once = loop->getCond() && constant(loop->getCond(), again) && again.integer == 0;
    if (!once)
      start("do", loop->getRParenLoc());
    discard(loop->getBody()), visit(loop->getBody());
    visit(loop->getCond());
  }
}

void Lowering::visit_initializer(const CXXCtorInitializer* initializer) {
  const Expr* expression = initializer->getInit();
  if (const FieldDecl* field = initializer->getAnyMember()) {
    const Expr* construct = expression ? initializing_construct(expression) : nullptr;
    if (construct)
      initializes_[construct] = field;
    visit(expression);
    if (construct && events_.contains(construct))
      return;
    if (!initializer->isWritten() && !isa_and_nonnull<CXXDefaultInitExpr>(expression))
      return;
    Event& event = add(Event::Kind::assign, nullptr,
                       SourceRange(initializer->getSourceLocation(), initializer->getRParenLoc()),
                       initializer->getSourceLocation());
    event.text = "=";
    Value target = declared_value(field);
    Value self;
    self.kind = Value::Kind::variable;
    self.text = "this";
    target.operands.push_back(std::move(self));
    event.receiver = std::move(target);
    if (expression)
      event.arguments.push_back(value(expression));
    initializers_[initializer] = event.id;
    return;
  }
  if (expression && initializer->isWritten())
    written_.insert(plain(expression)); // a base class or delegation
  visit(expression);
}

void Lowering::name_callee(Event& event, const FunctionDecl* callee) {
  event.callee = map_.qualified_name(callee);
  event.callee_usr = map_.usr(callee);
  event.external = !map_.is_declared_by_user(callee);
  if (map_.is_stand_in(callee))
    event.resolved = false;
  else
    event.template_arguments = map_.template_arguments(callee);
}

void Lowering::name_unresolved_callee(Event& event, const Expr* callee) {
  event.resolved = false;
  event.external = true;
  callee = plain(callee);
  if (!callee)
    return;
  if (const auto* overloads = dyn_cast<OverloadExpr>(callee)) {
    event.callee = overloads->getName().getAsString();
    if (overloads->getNumDecls() > 0) {
      const NamedDecl* first = (*overloads->decls_begin())->getUnderlyingDecl();
      event.callee = map_.qualified_name(first);
      event.external = !map_.is_declared_by_user(first);
    }
    if (const auto* member = dyn_cast<UnresolvedMemberExpr>(overloads); member && !member->isImplicitAccess())
      event.receiver = value(member->getBase());
  } else if (const auto* member = dyn_cast<CXXDependentScopeMemberExpr>(callee)) {
    event.callee = member->getMember().getAsString();
    if (!member->isImplicitAccess())
      event.receiver = value(member->getBase());
  } else if (const auto* member = dyn_cast<MemberExpr>(callee)) {
    event.callee = map_.qualified_name(member->getMemberDecl());
    event.receiver = value(member->getBase());
  } else {
    event.callee = map_.source_text(callee->getSourceRange());
    const auto* recovery = dyn_cast<RecoveryExpr>(callee);
    const std::size_t dot = recovery ? event.callee.find_last_of(".>") : std::string::npos;
    const std::string name = dot == std::string::npos ? "" : event.callee.substr(dot + 1);
    if (!name.empty() &&
        std::all_of(name.begin(), name.end(), [](unsigned char c) { return isalnum(c) || c == '_'; })) {
      event.callee = name; // x.f, x->f: x is the receiver
      if (!recovery->subExpressions().empty())
        event.receiver = value(recovery->subExpressions().front());
    }
  }
}

void Lowering::add_call(const CallExpr* call) {
  const FunctionDecl* callee = call->getDirectCallee();
  const auto* operation = dyn_cast<CXXOperatorCallExpr>(call);
  if (operation && operation->getOperator() == OO_Arrow)
    return; // seen through, see plain()
  if (isa<CXXPseudoDestructorExpr>(call->getCallee()->IgnoreParens()))
    return;

  SourceLocation name = call->getBeginLoc();
  const Expr* callee_expression = call->getCallee()->IgnoreParenImpCasts();
  if (operation)
    name = operation->getOperatorLoc();
  else if (const auto* member = dyn_cast<MemberExpr>(callee_expression))
    name = member->getMemberLoc();
  else if (const auto* reference = dyn_cast<DeclRefExpr>(callee_expression))
    name = reference->getLocation();
  else if (const auto* member = dyn_cast<CXXDependentScopeMemberExpr>(callee_expression))
    name = member->getMemberLoc();
  else if (const auto* overloads = dyn_cast<OverloadExpr>(callee_expression))
    name = overloads->getNameLoc();

  Event& event = add(Event::Kind::call, call, call->getSourceRange(), name);
  unsigned first_argument = 0;
  if (callee) {
    name_callee(event, callee);
    const auto* method = dyn_cast<CXXMethodDecl>(callee);
    if (const auto* member = dyn_cast<CXXMemberCallExpr>(call)) {
      if (const Expr* object = member->getImplicitObjectArgument())
        event.receiver = value(object);
    } else if (operation && method && method->isInstance() && call->getNumArgs() > 0) {
      event.receiver = value(call->getArg(0));
      first_argument = 1;
    }
  } else if (const auto* target = dyn_cast_or_null<ValueDecl>(call->getCalleeDecl())) {
    event.callee = map_.qualified_name(target); // through a pointer: the variable
    event.callee_usr = map_.usr(target);
    event.resolved = is_trustworthy(target);
    if (const auto* member = dyn_cast<MemberExpr>(callee_expression))
      event.receiver = value(member->getBase());
  } else {
    name_unresolved_callee(event, callee_expression);
    const bool on_first = operation && call->getNumArgs() > 0 &&
                          (operation->isAssignmentOp() || operation->getOperator() == OO_Call ||
                           operation->getOperator() == OO_Subscript);
    if (on_first) {
      event.callee = std::string("operator") + getOperatorSpelling(operation->getOperator());
      event.receiver = value(call->getArg(0));
      first_argument = 1;
    }
  }
  event.arguments = arguments_of(arguments_from(call, first_argument));
  if (const auto* launch = dyn_cast<CUDAKernelCallExpr>(call)) {
    event.launch = true;
    if (launch->getConfig())
      event.configuration = arguments_of(arguments_from(launch->getConfig(), 0));
  }
  if (event.resolved && (!callee || is_trustworthy(callee)))
    event.result_type = map_.type_name(call->getType());
  events_[call] = event.id;
}

void Lowering::add_construct(const Expr* expression, const CXXConstructorDecl* constructor, QualType type) {
  const ValueDecl* variable = initializes_.lookup(expression);
  const SourceLocation name = variable ? variable->getLocation() : expression->getBeginLoc();
  // A member's initialiser may stand in the class; a default-constructed variable has no expression of its
  // own.
  SourceRange range = expression->getSourceRange();
  if (variable && isa<VarDecl>(variable))
    range = variable->getSourceRange();
  if (range.isInvalid() && variable)
    range = variable->getSourceRange();
  Event& event = add(Event::Kind::construct, expression, range, name);
  name_callee(event, constructor);
  event.result_type = map_.type_name(type);
  if (const auto* construct = dyn_cast<CXXConstructExpr>(expression)) {
    std::vector<const Expr*> arguments(construct->arguments().begin(), construct->arguments().end());
    event.arguments = arguments_of(written_arguments(arguments));
  }
  if (variable) {
    event.variable = map_.qualified_name(variable);
    event.variable_id = map_.usr(variable);
    event.result_used = true;
    event.text = storage_of(variable);
  }
  events_[expression] = event.id;
}

void Lowering::add_dependent_construct(const CXXUnresolvedConstructExpr* construct) {
  Event& event =
      add(Event::Kind::construct, construct, construct->getSourceRange(), construct->getBeginLoc());
  event.callee = map_.source_text(construct->getTypeSourceInfo()->getTypeLoc().getSourceRange());
  event.resolved = false;
  event.external = true;
  std::vector<const Expr*> arguments(construct->arguments().begin(), construct->arguments().end());
  event.arguments = arguments_of(arguments);
  events_[construct] = event.id;
}

void Lowering::add_aggregate(const InitListExpr* list) {
  const ValueDecl* variable = initializes_.lookup(list);
  const SourceRange range = isa<VarDecl>(variable) ? variable->getSourceRange() : list->getSourceRange();
  const auto* record = list->getType()->getAsRecordDecl();
  const InitListExpr* semantic =
      list->isSemanticForm() || !list->getSemanticForm() ? list : list->getSemanticForm();
  Event& event = add(Event::Kind::construct, list, range, variable->getLocation());
  event.callee = map_.qualified_name(record) + "::" + (record ? record->getNameAsString() : "");
  event.external = !map_.is_declared_by_user(record);
  event.result_type = map_.type_name(list->getType());
  event.variable = map_.qualified_name(variable);
  event.variable_id = map_.usr(variable);
  event.result_used = true;
  std::vector<const Expr*> elements(semantic->inits().begin(), semantic->inits().end());
  event.arguments = arguments_of(elements);
  events_[list] = event.id;
}

void Lowering::add_assignment(const Expr* whole, const Expr* target, const Expr* assigned,
                              const std::string& spelling, SourceLocation operator_location) {
  Event& event = add(Event::Kind::assign, whole, whole->getSourceRange(), operator_location);
  event.text = spelling;
  event.receiver = value(target);
  if (assigned)
    event.arguments.push_back(value(assigned));
  event.result_type = event.receiver->type;
  events_[whole] = event.id;
}

// A call of what the text says, with its operands; what it writes is assigned from it.
void Lowering::add_assembly(const GCCAsmStmt* statement) {
  Event& event = add(Event::Kind::call, nullptr, statement->getSourceRange(), statement->getAsmLoc());
  event.callee = "asm";
  event.external = true;
  Value text;
  text.kind = Value::Kind::string;
  text.text = std::string(statement->getAsmString()).substr(0, kLongestAssembly);
  event.arguments.push_back(std::move(text));
  for (unsigned i = 0; i < statement->getNumInputs(); ++i)
    event.arguments.push_back(value(statement->getInputExpr(i)));
  Value result;
  result.kind = Value::Kind::call;
  result.event = event.id;
  result.text = event.callee;
  events_[statement] = event.id;
  for (unsigned i = 0; i < statement->getNumOutputs(); ++i) {
    Event& output = add(Event::Kind::assign, nullptr, statement->getSourceRange(), statement->getAsmLoc());
    output.text = "=";
    output.receiver = value(statement->getOutputExpr(i));
    output.arguments.push_back(result);
    output.result_type = output.receiver->type;
  }
}

void Lowering::add_return(const ReturnStmt* leave) {
  Event& event = add(Event::Kind::returns, nullptr, leave->getSourceRange(), leave->getReturnLoc());
  event.arguments.push_back(value(leave->getRetValue()));
  event.result_type = event.arguments[0].type;
  events_[leave] = event.id;
}

void Lowering::add_access(const Expr* expression, const Expr* base, const Expr* index) {
  // Host code is bounded by leaving these out; in kernels they are what races are made of.
  if (!(out_.is_kernel || out_.is_device) || addressed_.contains(expression))
    return;
  Event& event =
      add(Event::Kind::access, expression, expression->getSourceRange(), expression->getBeginLoc());
  event.text = written_.contains(expression) ? "write" : "read";
  event.receiver = value(base);
  if (index)
    event.arguments.push_back(value(index));
  event.result_type = map_.type_name(expression->getType());
  accesses_[expression] = event.id;
}

// `namespace::` that clang left out of an expression which it could not make sense of.
std::size_t Lowering::qualifier_before(SourceLocation begin) const {
  const auto [file, offset] = map_.sources.getDecomposedLoc(begin);
  bool invalid = false;
  const StringRef before = map_.sources.getBufferData(file, &invalid).take_front(offset);
  if (invalid || !before.ends_with("::"))
    return 0;
  std::size_t length = 0;
  while (length < before.size()) {
    const char c = before[before.size() - length - 1];
    if (!isalnum(static_cast<unsigned char>(c)) && c != '_' && c != ':')
      break;
    ++length;
  }
  return length;
}

// An expression that clang could not make sense of: the call is known by how it is written.
void Lowering::add_recovery(const RecoveryExpr* recovery) {
  const StringRef text = map_.raw_text(recovery->getSourceRange());
  const std::optional<WrittenCall> call = written_call(text);
  if (!call)
    return;
  const SourceLocation begin = map_.sources.getFileLoc(recovery->getBeginLoc());
  // The last parenthesis may belong to an operand that clang understood: `unknown + f(x)`.
  if (call->begin > 0 && !call->member)
    return;
  // Clang wraps a call once more for each thing that is wrong with its use: the last parenthesis is then the
  // inner's.
  const SourceLocation end = map_.sources.getFileLoc(recovery->getEndLoc());
  for (const Expr* part : recovery->subExpressions()) {
    const Expr* inner = plain(part);
    const auto known = events_.find(inner);
    if (known == events_.end() || map_.sources.getFileLoc(inner->getEndLoc()) != end)
      continue;
    const std::uint32_t event = known->second;
    events_[recovery] = event;
    return;
  }
  const SourceLocation open = begin.getLocWithOffset(static_cast<int>(call->parenthesis));
  Event& event = add(Event::Kind::call, recovery, recovery->getSourceRange(),
                     begin.getLocWithOffset(static_cast<int>(call->begin)));
  const std::size_t qualifier = call->begin == 0 ? qualifier_before(begin) : 0;
  if (qualifier) {
    const auto [file, offset] = map_.sources.getDecomposedLoc(begin);
    event.callee = map_.sources.getBufferData(file).substr(offset - qualifier, qualifier).ltrim(':').str();
    event.range.begin = map_.position(begin.getLocWithOffset(-static_cast<int>(qualifier)));
  }
  event.callee += text.slice(call->begin, call->end).str();
  event.resolved = false;
  event.external = true;
  for (const Expr* part : recovery->subExpressions()) {
    const SourceLocation place = map_.sources.getFileLoc(part->getBeginLoc());
    if (map_.sources.isBeforeInTranslationUnit(open, place))
      event.arguments.push_back(value(part));
    else if (call->member && !event.receiver)
      event.receiver = value(part);
  }
  events_[recovery] = event.id;
}

} // namespace reprobe::scan
