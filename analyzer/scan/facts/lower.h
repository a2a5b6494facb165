// One function's body to a Function: events in source order, the control flow graph over them, values of
// expressions.
#pragma once

#include "analyzer/scan/facts/source_map.h"

#include <clang/Analysis/CFG.h>

#include <llvm/ADT/DenseSet.h>

namespace reprobe::scan {

class Lowering {
public:
  Lowering(SourceMap& map, Function& function) : map_(map), out_(function) {}

  /// A function, method, constructor or lambda body.
  void lower(const clang::FunctionDecl*, bool with_graph = true);
  /// Initialisers in the order in which they run, as one straight block.
  void lower(const std::vector<const clang::ValueDecl*>& variables);

private:
  // events.cpp
  void visit(const clang::Stmt*);
  void visit_children(const clang::Stmt*);
  void visit_initializer(const clang::CXXCtorInitializer*);
  void visit_variable(const clang::ValueDecl*, const clang::Expr* initializer);
  void visit_range_for(const clang::CXXForRangeStmt*);
  void visit_loop(const clang::Stmt*);
  void discard(const clang::Stmt*);
  void add_call(const clang::CallExpr*);
  void add_construct(const clang::Expr*, const clang::CXXConstructorDecl*, clang::QualType);
  void add_dependent_construct(const clang::CXXUnresolvedConstructExpr*);
  void add_aggregate(const clang::InitListExpr*);
  void add_assignment(const clang::Expr*, const clang::Expr* target, const clang::Expr* value,
                      const std::string& spelling, clang::SourceLocation operator_location);
  void add_return(const clang::ReturnStmt*);
  void add_recovery(const clang::RecoveryExpr*);
  void add_assembly(const clang::GCCAsmStmt*);
  std::size_t qualifier_before(clang::SourceLocation) const;
  void add_access(const clang::Expr*, const clang::Expr* base, const clang::Expr* index);
  Event& add(Event::Kind, const clang::Stmt*, clang::SourceRange, clang::SourceLocation name);
  void name_callee(Event&, const clang::FunctionDecl*);
  void name_unresolved_callee(Event&, const clang::Expr* callee);
  std::vector<Value> arguments_of(llvm::ArrayRef<const clang::Expr*>);
  bool is_full() const;

  // graph.cpp
  void build_graph(const clang::Decl*, clang::Stmt* body);
  void place(std::uint32_t event, std::uint32_t block);
  void place_element(const clang::CFGElement&, std::uint32_t block);
  void place_loops(const clang::CFG&);
  void place_rest();
  void add_edges(const clang::CFGBlock&);
  std::uint32_t destroy_event(const clang::VarDecl*, const clang::Stmt* trigger);
  void straight_line();

  // values.cpp
  Value value(const clang::Expr*, int depth = 0);
  Value declared_value(const clang::ValueDecl*);
  Value compound(std::string spelling, const clang::Expr*, llvm::ArrayRef<const clang::Expr*>, int depth);
  Value call_value(const clang::Expr*, int depth);
  bool constant(const clang::Expr*, Value&);
  Value with_source(Value, const clang::Expr*);

  SourceMap& map_;
  Function& out_;
  std::string this_type_;
  llvm::DenseMap<const clang::Stmt*, std::uint32_t> events_;   // what the expression does
  llvm::DenseMap<const clang::Stmt*, std::uint32_t> accesses_; // memory that it touches
  llvm::DenseMap<const clang::Decl*, std::uint32_t>
      declarations_; // declare events without an expression of their own
  llvm::DenseMap<const void*, std::uint32_t> initializers_; // constructor initialisers
  llvm::DenseMap<const clang::Stmt*, std::uint32_t> loops_; // iterate events
  llvm::DenseMap<const clang::Decl*, std::uint32_t> destroyed_;
  llvm::DenseSet<const clang::Stmt*> discarded_; // results that nobody uses
  llvm::DenseSet<const clang::Stmt*> written_, addressed_, implicit_;
  llvm::DenseMap<const clang::Stmt*, const clang::ValueDecl*> initializes_;
  std::vector<bool> placed_;
};

/// The expression that carries the meaning: without parentheses, implicit casts, temporaries, implicit
/// conversions by constructors, and copies.
const clang::Expr* plain(const clang::Expr*);

/// Not an invalid declaration, so that its type is evidence.
bool is_trustworthy(const clang::ValueDecl*);

} // namespace reprobe::scan
