// Runs a function on facts: every path, with the calls that matter followed into the user's own functions.
//
// A world is what is known at one point of one family of paths: which conditions were taken, which switches
// hold which values, which generators are seeded. Worlds that agree on the state are merged; their
// assumptions are then those that they share. Results are "may": the observer sees each state that some path
// can have.
//
// A run answers one question: of the names that it asks about, and nothing else, worlds keep the state. What
// a project does with other switches and generators would only multiply its worlds.
#pragma once

#include "analyzer/scan/flow/conditions.h"
#include "analyzer/scan/flow/effects.h"
#include "analyzer/scan/flow/project.h"

#include <functional>
#include <map>
#include <set>
#include <unordered_map>

namespace reprobe::scan {

struct World {
  struct Knob {
    Truth value;
    Site writer;
  };
  struct Generator {
    Site seed;       // unset: not seeded
    Site first_draw; // before any seed
  };
  Assumptions assumptions;
  Constants constants;
  std::map<std::string, Knob> knobs;
  std::map<std::string, std::map<std::string, Knob>> saved; // by guard variable: what its end puts back
  std::map<std::string, Generator> generators;

  /// Whether the switch can have this value here; switches start as `initially`.
  bool may_be(const std::string& knob, bool value, bool initially = false) const;
  /// Whether both can be on at once.
  bool may_both_be_on(const std::string& a, const std::string& b) const;
  const Knob* knob(const std::string& name) const;
  /// Everything but the assumptions: equal exactly when the states are.
  std::string state() const;
};

class Execution {
public:
  /// Names of switches and generators.
  using Names = std::set<std::string>;
  using Observer = std::function<void(const Site&, const World&)>;
  /// Sees a function of the user's return, the root too: the world in which it was called, and one that it
  /// leaves behind.
  using ReturnObserver = std::function<void(FunctionRef callee, const World& before, const World& after)>;

  /// `of_interest`: functions with such events are followed into even if nothing in them changes the state.
  Execution(const Codebase&, const Effects&, std::function<bool(const Event&)> of_interest);

  /// Runs from `root`; `before` sees each event that is run and the world before it, `at_exit` each final
  /// world.
  void run(FunctionRef root, const Names& about, const Observer& before,
           const std::function<void(const World&)>& at_exit = {}, const ReturnObserver& after_call = {});

  /// Whether anything in the project sets, seeds or draws from one of them.
  bool is_used(const Names&);

  /// The same from all functions that no other function of the project runs, mains first: together they run
  /// everything that matters.
  void run_all(const Names& about, const Observer& before,
               const std::function<void(const World&)>& at_exit = {}, const ReturnObserver& after_call = {});

private:
  // What is known of the project for one question.
  struct Slice {
    Names names;
    bool is_used = false;
    std::set<const Function*> relevant;
    std::set<std::string> guards; // variables whose end puts switches back
    std::unordered_map<const Event*, bool> inert;
    std::unordered_map<const Function*, std::set<std::string>> condition_variables;
    std::vector<FunctionRef> roots;
  };
  void ask(const Names& about);
  bool changes_state(const Event&) const;
  void find_relevant();
  void find_roots();
  void run_root(FunctionRef, const Observer& before, const std::function<void(const World&)>& at_exit,
                const ReturnObserver& after_call);

  std::vector<World> run_function(FunctionRef, const World& entry);
  std::vector<World> run_blocks(FunctionRef, const World& entry);
  void run_worlds(FunctionRef, const Event&, std::vector<World>&);
  bool is_inert(FunctionRef, const Event&);
  std::vector<World> run_event(FunctionRef, const Event&, World);
  std::vector<World> run_calls(FunctionRef, const Event&, World);
  std::vector<World> call(FunctionRef caller, const Event&, FunctionRef callee, const World&);
  void apply(FunctionRef, const Event&, const Effect&, World&) const;
  void apply_assignment(FunctionRef, const Event&, World&) const;
  const std::set<std::string>& condition_variables(FunctionRef);

  const Codebase& project_;
  const Effects& effects_;
  std::function<bool(const Event&)> of_interest_;
  std::map<Names, Slice> slices_;
  Slice* slice_ = nullptr; // of the run in progress
  std::map<std::pair<const Function*, std::string>, std::vector<World>> finished_;
  std::set<const Function*> running_;
  std::size_t steps_ = 0;
  Observer before_;
  ReturnObserver after_call_;
};

} // namespace reprobe::scan
