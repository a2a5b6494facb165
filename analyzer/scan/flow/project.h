// All translation units as one: which function a call runs, who calls a function, what a program's main
// reaches.
#pragma once

#include "analyzer/scan/facts/facts.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace reprobe::scan {

struct FunctionRef {
  const TranslationUnit* unit = nullptr;
  const Function* function = nullptr;
  explicit operator bool() const { return function != nullptr; }
  bool operator==(const FunctionRef&) const = default;
};

/// An event of a function.
struct Site {
  FunctionRef in;
  const Event* event = nullptr;
  explicit operator bool() const { return event != nullptr; }
  bool operator==(const Site&) const = default;
};

const std::string& file_of(const TranslationUnit&, const Position&);
const std::string& file_of(FunctionRef);
/// `tensor = value`, where the assignment is a member function.
bool is_object_assignment(const Event&);
/// The call of std::tie whose variables the event assigns to (`std::tie(x, y) = …`), or null.
const Event* tie_assigned_by(const Function&, const Event&);
/// The callee's last part is a method or operator that changes its object: `add_`, `operator+=`.
bool changes_its_object(const std::string& name);
const Event* event_of(const Function&, std::uint32_t id);
const Block* block_of(const Function&, const Event&);
/// Some path leads from one block to the other; every block reaches itself.
bool reaches(const Function&, std::uint32_t from, std::uint32_t to);
/// Each leads to the other: they are one block, or parts of one loop.
bool share_loop(const Function&, const Block&, const Block&);

class Codebase {
public:
  /// The translation units must outlive the project.
  explicit Codebase(const std::vector<TranslationUnit>&);

  /// Functions of the user's own files, each once however many translation units include it.
  const std::vector<FunctionRef>& functions() const { return functions_; }
  const std::vector<FunctionRef>& mains() const { return mains_; }
  const std::vector<TranslationUnit>& units() const { return units_; }

  /// The definition that a USR names, seen from `from`: of several programs' functions of one name, the
  /// nearest file's.
  FunctionRef definition(const std::string& usr, const TranslationUnit& from) const;
  /// User functions that the event may run: callee, constructor, destructor, lambdas handed to foreign
  /// functions.
  const std::vector<FunctionRef>& callees(FunctionRef, const Event&) const;
  const std::vector<Site>& callers(const Function*) const;
  /// What a call of the virtual method with this USR may run besides its own definition.
  const std::vector<FunctionRef>& overriders(const std::string& usr) const;
  /// Everything that writes a variable or field: declarations, constructions, assignments.
  std::vector<Site> definitions(const std::string& variable_id, FunctionRef seen_from) const;

  /// Functions that `main` may run: its call graph, and all members of classes that it constructs.
  std::set<const Function*> reachable(FunctionRef main) const;

private:
  void index(FunctionRef);
  std::vector<FunctionRef> find_callees(FunctionRef, const Event&) const;
  std::string forwarded_class(const Event&) const;
  const std::vector<TranslationUnit>& units_;
  std::vector<FunctionRef> functions_, mains_;
  std::unordered_map<std::string, std::vector<FunctionRef>> by_usr_, by_owner_, destructors_, overriders_;
  std::unordered_map<std::string, std::vector<Site>> definitions_;
  std::unordered_map<const Function*, std::vector<Site>> callers_;
  mutable std::unordered_map<const Event*, std::vector<FunctionRef>>
      callees_; // of events that were asked about
  // Of several definitions the one that a unit means, once it was asked for.
  mutable std::unordered_map<const TranslationUnit*,
                             std::unordered_map<const std::vector<FunctionRef>*, FunctionRef>>
      nearest_;
};

} // namespace reprobe::scan
