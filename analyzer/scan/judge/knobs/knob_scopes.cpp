// When and how long a process-wide switch holds: set too late, left changed, or taken for one object's own.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/knobs/knob_writes.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

bool writes_any(const Context& context, const Event& event, const std::vector<std::string>& knobs) {
  const std::vector<Effect>& effects = context.effects.of(&event);
  return std::any_of(effects.begin(), effects.end(), [&](const Effect& effect) {
    return effect.kind == Effect::Kind::write_knob &&
           std::find(knobs.begin(), knobs.end(), effect.name) != knobs.end();
  });
}

struct Seen {
  Site site;
  Site phase; // what came before
  bool early = false;
};

// A function that does nothing but set switches is made to change them.
bool computes(const Context& context, const Function& function) {
  return std::any_of(function.events.begin(), function.events.end(),
                     [&](const Event& event) { return uses_libtorch(context, event); });
}

bool depends_on_object(const Context& context, const KnobWrite& write) {
  if (!write.effect->argument)
    return false;
  bool found = false;
  const Function& function = *write.site.in.function;
  walk(context.project, write.site.in, *write.effect->argument, {.variables = false, .results = false},
       [&](const Visit& visit) {
         const Value& value = *visit.value;
         const bool parameter = parameter_index(function, value.id) >= 0;
         const bool member = value.kind == Value::Kind::variable && !function.owner.empty() &&
                             value.text.rfind(function.owner + "::", 0) == 0;
         found |= parameter || member;
         return !found;
       });
  return found;
}

} // namespace

// `knobs` are switched on only after `after` has begun, on every path.
void judge_late(const KnobCheck& check) {
  const std::vector<std::string> knobs = strings(check.options, "knobs");
  const std::string after = check.options.at("after");
  std::vector<Seen> seen;
  const auto look = [&](const Site& site, const World& world) {
    if (!writes_any(check.context, *site.event, knobs))
      return;
    auto known = std::find_if(seen.begin(), seen.end(), [&](const Seen& s) { return s.site == site; });
    if (known == seen.end())
      known = seen.insert(seen.end(), {site, {}, false});
    if (world.may_be(after, false))
      known->early = true;
    else
      known->phase = world.knob(after)->writer;
  };
  Execution::Names asked(knobs.begin(), knobs.end());
  asked.insert(after);
  if (!check.context.execution.is_used({after}))
    return; // every switch is early
  check.context.execution.run_all(asked, look);
  for (const std::string& knob : knobs)
    for (const KnobWrite& write : switched_on(check.context, knob)) {
      const auto known =
          std::find_if(seen.begin(), seen.end(), [&](const Seen& s) { return s.site == write.site; });
      if (known == seen.end() || known->early || !known->phase)
        continue;
      const std::string other = shown_name(*known->phase.event);
      Draft draft =
          check.draft_at(write.site, message_of(check.options, {shown_name(*write.site.event), other, ""}));
      draft.notes.emplace_back(known->phase, other + " comes first");
      check.findings.add(std::move(draft));
    }
}

// A function of the user's that computes leaves `knob` changed `to` this value.
void judge_leaks(const KnobCheck& check) {
  const std::string knob = check.options.at("knob");
  const bool to = check.options.at("to"), initially = check.options.value("initially", false);
  const auto look = [&](FunctionRef function, const World& before, const World& after) {
    if (before.may_be(knob, to, initially) || after.may_be(knob, !to, initially))
      return;
    const Site writer = after.knob(knob)->writer;
    const bool made_for_it = function.function->is_constructor || function.function->is_main ||
                             !computes(check.context, *function.function);
    if (made_for_it || !may_be_trained_with(check.context, function.function))
      return;
    Draft draft = check.draft_at(writer, message_of(check.options, {shown_name(*writer.event),
                                                                    last_part(function.function->name), ""}));
    draft.notes.emplace_back(Site{function, nullptr}, "still so when this function returns");
    check.findings.add(std::move(draft));
  };
  if (!check.context.execution.is_used({knob}))
    return;
  check.context.execution.run_all({knob}, [](const Site&, const World&) {}, {}, look);
}

// A constructor sets `knobs` to what its object, one of several, asks for.
void judge_per_object(const KnobCheck& check) {
  std::set<const Function*> reported;
  for (const std::string& knob : strings(check.options, "knobs"))
    for (const KnobWrite& write : writes_of(check.context, knob)) {
      const Function* function = write.site.in.function;
      if (!function->is_constructor || !depends_on_object(check.context, write) ||
          !reported.insert(function).second)
        continue;
      check.findings.add(check.draft_at(
          write.site,
          message_of(check.options, {shown_name(*write.site.event), plain_name(function->owner), ""})));
    }
}

} // namespace reprobe::scan
