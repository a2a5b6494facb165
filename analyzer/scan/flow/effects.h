// What an event does to the state that rules reason about: switches, random generators, gradient mode.
#pragma once

#include "analyzer/scan/flow/conditions.h"
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/flow/project.h"
#include "rules/registry.h"

#include <memory>
#include <unordered_map>

namespace reprobe::scan {

struct Effect {
  enum class Kind : std::uint8_t {
    write_knob, // `name` gets the value of `argument`, or `value`
    guard,      // the same until the variable's scope ends
    seed,       // generator `name` is seeded with `argument`
    draw,       // numbers are taken from generator `name`
    draw_later, // an object that will take numbers from it
  };
  Kind kind = Kind::draw;
  std::string name;
  const Value* argument = nullptr; // null: all arguments, or `value`
  bool value = false;
  std::string text;     // what an environment variable is set to
  bool once = false;    // stays on: the first write counts
  bool layer = false;   // draws by making a layer's first parameters
  bool by_name = false; // the callee is unresolved: weaker evidence
  const nlohmann::json* row = nullptr;
};

/// What a switch is set to: rows that list the values which switch it `on` compare strings and enumerators
/// with them.
Truth written_value(const Function&, const Effect&, const Constants&);

/// The effects of all events of a project, from the tables `knobs` and `generators`.
class Effects {
public:
  Effects(const Codebase&, const rules::Registry&);
  const std::vector<Effect>& of(const Event*) const;

  /// Entropy: the row of the source of entropy that the call reads, or null.
  const nlohmann::json* entropy(const Event&) const;
  /// The row of a type that is a source of entropy (std::random_device).
  const nlohmann::json* entropy_type(const std::string& type) const;
  bool is_engine(const std::string& type) const;

private:
  void find_effects(FunctionRef, const Event&);
  void add_knob_effect(const Event&, const SymbolIndex::Match&);
  void add_generator_effect(const Event&, const SymbolIndex::Match&);
  void add_engine_effects(const Event&);

  std::unique_ptr<nlohmann::json> engine_rows_;
  SymbolIndex knobs_, generators_, entropy_types_, engines_;
  std::unordered_map<const Event*, std::vector<Effect>> effects_;
};

} // namespace reprobe::scan
