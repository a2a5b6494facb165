// What is known of an expression without running it.
#include "analyzer/scan/facts/lower.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprConcepts.h>

namespace reprobe::scan {
using namespace clang;

namespace {

constexpr int kDeepest = 24;              // deeper operands are unknown
constexpr std::size_t kMostOperands = 64; // longer braced lists are cut
constexpr std::size_t kLongestText = 4000;

// `T(x)`, `{x}` or a plain `x` turned into a parameter's type by one of its constructors.
const Expr* converted_argument(const CXXConstructExpr* construct) {
  if (isa<CXXTemporaryObjectExpr>(construct))
    return nullptr;
  const Expr* first = nullptr;
  for (const Expr* argument : construct->arguments()) {
    if (isa<CXXDefaultArgExpr>(argument))
      continue;
    if (first)
      return nullptr;
    first = argument;
  }
  return first;
}

bool is_lookthrough_operator(const CXXOperatorCallExpr* call) {
  return call->getOperator() == OO_Arrow && call->getNumArgs() == 1;
}

} // namespace

bool is_trustworthy(const ValueDecl* declaration) {
  return declaration && !declaration->isInvalidDecl() && !declaration->getType()->containsErrors();
}

const Expr* plain(const Expr* expression) {
  while (expression) {
    const Expr* before = expression;
    expression = expression->IgnoreParens();
    if (const auto* cast = dyn_cast<ImplicitCastExpr>(expression))
      expression = cast->getSubExpr();
    else if (const auto* full = dyn_cast<FullExpr>(expression))
      expression = full->getSubExpr();
    else if (const auto* kept = dyn_cast<MaterializeTemporaryExpr>(expression))
      expression = kept->getSubExpr();
    else if (const auto* bound = dyn_cast<CXXBindTemporaryExpr>(expression))
      expression = bound->getSubExpr();
    else if (const auto* given = dyn_cast<SubstNonTypeTemplateParmExpr>(expression))
      expression = given->getReplacement();
    else if (const auto* member = dyn_cast<CXXDefaultInitExpr>(expression))
      expression = member->getExpr();
    else if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(expression))
      expression = list->getSubExpr();
    else if (const auto* pseudo = dyn_cast<PseudoObjectExpr>(expression))
      expression = pseudo->getSyntacticForm();
    else if (const auto* opaque = dyn_cast<OpaqueValueExpr>(expression); opaque && opaque->getSourceExpr())
      expression = opaque->getSourceExpr();
    else if (const auto* construct = dyn_cast<CXXConstructExpr>(expression)) {
      const CXXConstructorDecl* constructor = construct->getConstructor();
      const Expr* argument = converted_argument(construct);
      if (argument && (construct->isElidable() || constructor->isCopyOrMoveConstructor()))
        expression = argument;
    }
    // `conv->forward(x)` on a module holder or smart pointer speaks of `conv`.
    else if (const auto* call = dyn_cast<CXXOperatorCallExpr>(expression);
             call && is_lookthrough_operator(call))
      expression = call->getArg(0);
    if (expression == before)
      return expression;
  }
  return nullptr;
}

Value Lowering::with_source(Value value, const Expr* expression) {
  value.source = map_.source_text(expression->getSourceRange());
  const bool replaceable = value.kind == Value::Kind::boolean || value.kind == Value::Kind::integer ||
                           value.kind == Value::Kind::enumerator || value.kind == Value::Kind::variable;
  if (const auto written = replaceable ? map_.written_range(expression->getSourceRange()) : std::nullopt) {
    value.at = written->begin;
    value.length = written->end.offset - written->begin.offset;
  }
  return value;
}

bool Lowering::constant(const Expr* expression, Value& out) {
  const QualType type = expression->getType();
  if (expression->isValueDependent() || expression->isTypeDependent() || expression->containsErrors() ||
      type.isNull() || expression->getBeginLoc().isInvalid())
    return false;
  const bool integral = type->isIntegralOrEnumerationType();
  if (!integral && !type->isRealFloatingType())
    return false;
  Expr::EvalResult result;
  if (!expression->EvaluateAsRValue(result, map_.context) || result.HasSideEffects)
    return false;
  if (integral && result.Val.isInt()) {
    const llvm::APSInt& integer = result.Val.getInt();
    out.integer = integer.isSigned() || integer.getActiveBits() <= 64
                      ? static_cast<std::int64_t>(integer.extOrTrunc(64).getZExtValue())
                      : 0;
    out.kind = type->isBooleanType() ? Value::Kind::boolean : Value::Kind::integer;
    if (const auto* enumeration = type->getAsEnumDecl()) {
      for (const EnumConstantDecl* known : enumeration->enumerators()) {
        if (!llvm::APSInt::isSameValue(known->getInitVal(), integer))
          continue;
        out.kind = Value::Kind::enumerator;
        if (out.text.empty())
          out.text = map_.qualified_name(known);
        // Of several names for one value, the one that is written.
        const auto* reference = dyn_cast<DeclRefExpr>(plain(expression));
        if (reference && reference->getDecl() == known)
          out.text = map_.qualified_name(known);
      }
    }
    return true;
  }
  if (!integral && result.Val.isFloat()) {
    llvm::APFloat floating = result.Val.getFloat();
    bool lost = false;
    floating.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    out.kind = Value::Kind::floating;
    out.floating = floating.convertToDouble();
    return true;
  }
  return false;
}

Value Lowering::declared_value(const ValueDecl* declaration) {
  Value out;
  if (const auto* enumerator = dyn_cast<EnumConstantDecl>(declaration)) {
    out.kind = Value::Kind::enumerator;
    out.integer = enumerator->getInitVal().extOrTrunc(64).getZExtValue();
  } else if (isa<FunctionDecl>(declaration)) {
    out.kind = Value::Kind::function;
  } else {
    out.kind = Value::Kind::variable;
  }
  out.text = map_.qualified_name(declaration);
  out.id = map_.usr(declaration);
  if (is_trustworthy(declaration))
    out.type = map_.type_name(declaration->getType());
  return out;
}

Value Lowering::compound(std::string spelling, const Expr* whole, llvm::ArrayRef<const Expr*> operands,
                         int depth) {
  Value out;
  out.kind = Value::Kind::compound;
  out.text = std::move(spelling);
  bool trusted = true;
  for (const Expr* operand : operands.take_front(kMostOperands)) {
    if (!operand)
      continue;
    out.operands.push_back(value(operand, depth + 1));
    if (out.operands.back().type.empty())
      trusted = false;
  }
  // What is built on an undeclared thing has the type that clang guessed.
  if (trusted || isa<ExplicitCastExpr>(whole))
    out.type = map_.type_name(whole->getType());
  return out;
}

Value Lowering::call_value(const Expr* expression, int depth) {
  Value out;
  if (auto found = events_.find(expression); found != events_.end()) {
    const Event& event = out_.events[found->second];
    out.kind = Value::Kind::call;
    out.event = event.id;
    out.text = event.callee;
    out.type = event.resolved ? event.result_type : std::string();
    return out;
  }
  // Only implicit conversions and copies have no event of their own.
  if (const auto* construct = dyn_cast<CXXConstructExpr>(expression)) {
    std::vector<const Expr*> arguments;
    for (const Expr* argument : construct->arguments())
      if (!isa<CXXDefaultArgExpr>(argument))
        arguments.push_back(argument);
    if (arguments.size() == 1)
      return value(arguments[0], depth + 1);
    Value built = compound("{}", expression, arguments, depth);
    built.type = map_.type_name(expression->getType());
    return built;
  }
  return out;
}

Value Lowering::value(const Expr* given, int depth) {
  Value out;
  const Expr* expression = plain(given);
  if (!expression || depth > kDeepest)
    return out;

  // Folding what is written (`given`, with its conversions) keeps `0.5` for a float parameter a float.
  const Expr* folded = given->getType().isNull() || given->getType()->isRecordType() ? expression : given;
  const QualType type = expression->getType(); // null for lists that were never matched with a type
  const bool literal_bool = !type.isNull() && (type->isBooleanType() || type->isEnumeralType());
  if (constant(literal_bool ? expression : folded, out)) {
    out.type = map_.type_name((literal_bool ? expression : folded)->getType());
    if (const auto* reference = dyn_cast<DeclRefExpr>(expression);
        reference && !is_trustworthy(reference->getDecl()))
      out.type.clear();
    return with_source(std::move(out), expression);
  }
  out = {};

  using Operands = std::initializer_list<const Expr*>;
  const auto compose = [&](const char* spelling, Operands operands) {
    return with_source(compound(spelling, expression, operands, depth), expression);
  };

  if (const auto* text = dyn_cast<StringLiteral>(expression)) {
    out.kind = Value::Kind::string;
    out.text = text->getBytes().substr(0, kLongestText).str();
    out.type = map_.type_name(text->getType());
  } else if (isa<CXXNullPtrLiteralExpr, GNUNullExpr>(expression) ||
             (!given->isValueDependent() && !given->getType().isNull() &&
              given->getType()->isAnyPointerType() && !given->containsErrors() &&
              given->isNullPointerConstant(map_.context, Expr::NPC_ValueDependentIsNotNull))) {
    out.kind = Value::Kind::null;
    out.type = map_.type_name(given->getType());
  } else if (const auto* reference = dyn_cast<DeclRefExpr>(expression)) {
    out = declared_value(reference->getDecl());
  } else if (const auto* member = dyn_cast<MemberExpr>(expression)) {
    out = declared_value(member->getMemberDecl());
    out.operands.push_back(value(member->getBase(), depth + 1));
  } else if (const auto* property = dyn_cast<MSPropertyRefExpr>(expression)) {
    // threadIdx.x and its kin, as Clang's CUDA headers declare them
    out.kind = Value::Kind::variable;
    out.operands.push_back(value(property->getBaseExpr(), depth + 1));
    out.text = out.operands.back().text + "." + property->getPropertyDecl()->getNameAsString();
    out.type = map_.type_name(property->getPropertyDecl()->getType());
  } else if (isa<CXXThisExpr>(expression)) {
    out.kind = Value::Kind::variable;
    out.text = "this";
    out.type = map_.type_name(expression->getType());
  } else if (const auto* lambda = dyn_cast<LambdaExpr>(expression)) {
    out.kind = Value::Kind::lambda;
    out.id = map_.usr(lambda->getCallOperator());
    out.text = map_.qualified_name(lambda->getCallOperator());
  } else if (isa<CallExpr, CXXConstructExpr, CXXUnresolvedConstructExpr>(expression)) {
    out = call_value(expression, depth);
  } else if (const auto* recovery = dyn_cast<RecoveryExpr>(expression)) {
    out = call_value(expression, depth);
    if (out.kind == Value::Kind::unknown)
      for (const Expr* part : recovery->subExpressions().take_front(kMostOperands))
        out.operands.push_back(value(part, depth + 1));
  } else if (const auto* list = dyn_cast<InitListExpr>(expression)) {
    if (events_.contains(expression))
      out = call_value(expression, depth);
    else if (!type.isNull() && list->getNumInits() == 1 && !list->getType()->isArrayType() &&
             !list->getType()->isRecordType() && !list->isTypeDependent() && !list->getType()->isVoidType())
      return value(list->getInit(0), depth + 1);
    else {
      const InitListExpr* whole =
          list->isSemanticForm() || !list->getSemanticForm() ? list : list->getSemanticForm();
      std::vector<const Expr*> elements(whole->inits().begin(), whole->inits().end());
      out = compound("{}", expression, elements, depth);
      out.type = map_.type_name(expression->getType());
    }
  } else if (const auto* list = dyn_cast<ParenListExpr>(expression)) {
    std::vector<const Expr*> elements;
    for (unsigned i = 0; i < list->getNumExprs(); ++i)
      elements.push_back(list->getExpr(i));
    out = compound("{}", expression, elements, depth);
  } else if (const auto* unary = dyn_cast<UnaryOperator>(expression)) {
    std::string spelling = UnaryOperator::getOpcodeStr(unary->getOpcode()).str();
    return with_source(compound(spelling, expression, {unary->getSubExpr()}, depth), expression);
  } else if (const auto* binary = dyn_cast<BinaryOperator>(expression)) {
    if (binary->getOpcode() == BO_Comma)
      return value(binary->getRHS(), depth + 1);
    std::string spelling = binary->getOpcodeStr().str();
    return with_source(compound(spelling, expression, {binary->getLHS(), binary->getRHS()}, depth),
                       expression);
  } else if (const auto* rewritten = dyn_cast<CXXRewrittenBinaryOperator>(expression)) {
    return value(rewritten->getSemanticForm(), depth + 1);
  } else if (const auto* choice = dyn_cast<ConditionalOperator>(expression)) {
    return compose("?:", {choice->getCond(), choice->getTrueExpr(), choice->getFalseExpr()});
  } else if (const auto* choice = dyn_cast<BinaryConditionalOperator>(expression)) {
    return compose("?:", {choice->getCommon(), choice->getFalseExpr()});
  } else if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(expression)) {
    return compose("[]", {subscript->getBase(), subscript->getIdx()});
  } else if (const auto* cast = dyn_cast<ExplicitCastExpr>(expression)) {
    // `T(x)` by a constructor is that constructor's call.
    const Expr* inner = cast->getSubExpr()->IgnoreImplicit();
    if (events_.contains(inner))
      return value(inner, depth + 1);
    return compose("cast", {cast->getSubExpr()});
  } else if (const auto* fresh = dyn_cast<CXXNewExpr>(expression)) {
    return compose("new", {fresh->getInitializer()});
  } else if (const auto* name = dyn_cast<DependentScopeDeclRefExpr>(expression)) {
    out.kind = Value::Kind::variable;
    out.text = map_.source_text(name->getSourceRange());
  } else if (const auto* member = dyn_cast<CXXDependentScopeMemberExpr>(expression)) {
    out.kind = Value::Kind::variable;
    out.text = member->getMember().getAsString();
    if (!member->isImplicitAccess())
      out.operands.push_back(value(member->getBase(), depth + 1));
  } else if (const auto* overloads = dyn_cast<OverloadExpr>(expression)) {
    out.kind = Value::Kind::function;
    out.text = overloads->getName().getAsString();
    if (overloads->getNumDecls() > 0)
      out.text = map_.qualified_name((*overloads->decls_begin())->getUnderlyingDecl());
  } else if (const auto* expansion = dyn_cast<PackExpansionExpr>(expression)) {
    return value(expansion->getPattern(), depth + 1);
  } else {
    out.type = map_.type_name(expression->getType());
  }
  return with_source(std::move(out), expression);
}

} // namespace reprobe::scan
