// Where the program sets process-wide switches, for the checks of the family `knobs`.
#pragma once

#include "analyzer/scan/judge/context.h"
#include "analyzer/scan/judge/tensors/operator_rows.h"

namespace reprobe::scan {

struct KnobWrite {
  Site site;
  const Effect* effect = nullptr;
  bool operator==(const KnobWrite& other) const { return site == other.site; }
};

/// Every call that sets the switch.
std::vector<KnobWrite> writes_of(const Context&, const std::string& knob);
/// Writes that may switch it on, over all paths.
std::vector<KnobWrite> switched_on(const Context&, const std::string& knob);
/// Whether this call certainly gives the switch that value.
bool certainly_sets(const Context&, const KnobWrite&, bool value);

/// The rule's option `message`; {name}, {other} and {what} stand for the arguments.
struct MessageParts {
  std::string name, other, what;
};
std::string message_of(const nlohmann::json& check, const MessageParts&);

/// A call that computes with LibTorch, not one that only sets a switch, a seed or a device.
bool uses_libtorch(const Context&, const Event&);

bool in_program(const Program&, const Site&);
bool any_in(const Program&, const std::vector<KnobWrite>&);
/// Part of a program that trains, or of a library that some program may train with.
bool may_be_trained_with(const Context&, const Function*);

/// What one `check` of a rule may need.
struct KnobCheck {
  const Context& context;
  Findings& findings;
  const nlohmann::json& options;
  Draft draft_at(const Site&, std::string message) const;
};

std::vector<std::string> strings(const nlohmann::json& options, const std::string& key);

// knob_scopes.cpp: when and how long a switch holds.
void judge_late(const KnobCheck&);
void judge_leaks(const KnobCheck&);
void judge_per_object(const KnobCheck&);
// knob_calls.cpp: calls that vary unless a switch is set.
void judge_called(const KnobCheck&);
// environment.cpp: variables that libraries read.
void judge_environment_needed(const KnobCheck&);
void judge_environment_value(const KnobCheck&);
// shapes.cpp: input sizes that change while algorithms are chosen by timing.
void judge_varying_shapes(const KnobCheck&);

} // namespace reprobe::scan
