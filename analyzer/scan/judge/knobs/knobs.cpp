// Family `knobs`: process-wide switches that contradict each other, do too little, hold at the wrong time, or
// are never set. A rule's options are one check, or a list `checks` of them.
//
// check
//   together      `knob` is switched on while one of `with` is on, at a call that uses LibTorch or at the end
//   states        all `states` (knob, is, initially) hold at once at a call that uses LibTorch
//   on            one of `knobs` is switched on in a program that trains; `only-with`: by a call that also
//   switches
//                 that one on; `anywhere`: in every program
//   without       `knob` is switched on, and nothing in the program switches `needs` on, though operators
//   need it never         none of `knobs` is ever switched on in a program that is seeded, trains, and has
//   operators that
//                 need it
//   mixed         one program sets both one of `knobs` and one of `with`; `since`: from that LibTorch on
//   late          `knobs` are switched on only after the phase `after` has begun
//   leaks         a function that computes leaves `knob` changed `to` this value
//   per-object    a constructor sets `knobs` to what its object asks for
//   never-called  a program that trains switches `knob` on and calls none of `functions`
//   called        see knob_calls.cpp
//   environment-needed, environment-value   see environment.cpp
//   varying-shapes                          see shapes.cpp
// replace         `together` and `on`: what to write for a literal `true` that switches the knob on
// message         {name}, {other} and {what} stand for the switches' names and what the table says of them
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/knobs/knob_writes.h"
#include "analyzer/scan/judge/versions.h"
#include "rules/error.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

using nlohmann::json;

std::string what_of(const KnobWrite& write) {
  return write.effect->row->value("what", "");
}

// replace: what to write for a literal `true` that switches the knob on.
void add_replacement(const KnobCheck& check, const Site& site, const std::string& knob, Draft& draft) {
  const auto replacement = check.options.find("replace");
  if (replacement == check.options.end())
    return;
  for (const Effect& effect : check.context.effects.of(site.event))
    if (effect.name == knob && effect.argument &&
        (effect.argument->source == "true" || effect.argument->source == "1"))
      draft.replace.emplace_back(effect.argument, replacement->get<std::string>());
}

void judge_together(const KnobCheck& check) {
  const std::string knob = check.options.at("knob");
  const auto look = [&](const World& world) {
    const World::Knob* on = world.knob(knob);
    if (!on || !on->writer || !may_be_trained_with(check.context, on->writer.in.function))
      return;
    for (const std::string& other : strings(check.options, "with")) {
      if (!world.may_both_be_on(knob, other))
        continue;
      const Site with = world.knob(other)->writer;
      Draft draft = check.draft_at(on->writer, message_of(check.options, {shown_name(*on->writer.event),
                                                                          shown_name(*with.event), ""}));
      draft.notes.emplace_back(with, "deterministic behaviour is asked for here");
      add_replacement(check, on->writer, knob, draft);
      check.findings.add(std::move(draft));
      return;
    }
  };
  if (!check.context.execution.is_used({knob}))
    return;
  Execution::Names asked = {knob};
  for (const std::string& other : strings(check.options, "with"))
    asked.insert(other);
  check.context.execution.run_all(
      asked,
      [&](const Site& site, const World& world) {
        if (uses_libtorch(check.context, *site.event))
          look(world);
      },
      look);
}

void judge_states(const KnobCheck& check) {
  const auto look = [&](const Site& site, const World& world) {
    if (!uses_libtorch(check.context, *site.event))
      return;
    std::vector<Site> writers;
    for (const json& state : check.options.at("states")) {
      const std::string knob = state.at("knob");
      const bool is = state.at("is");
      if (world.may_be(knob, !is, state.value("initially", false)))
        return;
      if (const World::Knob* set = world.knob(knob); set && set->writer)
        writers.push_back(set->writer);
    }
    if (writers.empty())
      return;
    Draft draft = check.draft_at(writers.back(),
                                 message_of(check.options, {shown_name(*writers.back().event), "", ""}));
    writers.pop_back();
    for (const Site& writer : writers)
      draft.notes.emplace_back(writer, "together with this");
    check.findings.add(std::move(draft));
  };
  Execution::Names asked;
  for (const json& state : check.options.at("states"))
    asked.insert(state.at("knob").get<std::string>());
  if (check.context.execution.is_used(asked))
    check.context.execution.run_all(asked, look);
}

void judge_on(const KnobCheck& check) {
  const std::string only_with = check.options.value("only-with", "");
  const std::vector<KnobWrite> base =
      only_with.empty() ? std::vector<KnobWrite>{} : switched_on(check.context, only_with);
  for (const std::string& knob : strings(check.options, "knobs"))
    for (const KnobWrite& write : switched_on(check.context, knob)) {
      if (!certainly_sets(check.context, write, true))
        continue;
      if (!only_with.empty() && std::find(base.begin(), base.end(), write) == base.end())
        continue;
      if (!check.options.value("anywhere", false) &&
          !may_be_trained_with(check.context, write.site.in.function))
        continue;
      Draft draft = check.draft_at(
          write.site, message_of(check.options, {shown_name(*write.site.event), "", what_of(write)}));
      if (write.effect->row->contains("catalog"))
        draft.tags = {write.effect->row->at("catalog").get<std::string>()};
      add_replacement(check, write.site, knob, draft);
      check.findings.add(std::move(draft));
    }
}

// The first write in each program of one of `with`, where another call of it sets one of `knobs`.
void judge_mixed(const KnobCheck& check) {
  const auto first_in = [&](const Program& program, const std::vector<std::string>& knobs) {
    for (const std::string& knob : knobs)
      for (const KnobWrite& write : writes_of(check.context, knob))
        if (in_program(program, write.site))
          return write.site;
    return Site{};
  };
  std::vector<const Program*> programs;
  for (const Program& program : check.context.evidence.programs())
    programs.push_back(&program);
  if (programs.empty())
    programs.push_back(&check.context.evidence.whole());
  for (const Program* program : programs) {
    const Site one = first_in(*program, strings(check.options, "knobs")),
               other = first_in(*program, strings(check.options, "with"));
    if (!one || !other ||
        version_applies(*other.in.unit, check.options.value("since", ""), "") == Applies::no)
      continue;
    Draft draft = check.draft_at(
        other, message_of(check.options, {shown_name(*other.event), shown_name(*one.event), ""}));
    draft.notes.emplace_back(one, "the other one is used here");
    check.findings.add(std::move(draft));
  }
}

void judge_never_called(const KnobCheck& check) {
  const std::vector<std::string> functions = strings(check.options, "functions");
  const auto calls = [&](const Program& program) {
    for (const Function* function : program.functions)
      for (const Event& event : function->events)
        if (event.kind == Event::Kind::call &&
            std::find(functions.begin(), functions.end(), plain_name(event.callee)) != functions.end())
          return true;
    return false;
  };
  for (const KnobWrite& write : switched_on(check.context, check.options.at("knob")))
    for (const Program* program : check.context.evidence.programs_of(write.site.in.function)) {
      if (!program->trains || program->partial || calls(*program))
        continue;
      check.findings.add(
          check.draft_at(write.site, message_of(check.options, {shown_name(*write.site.event), "", ""})));
    }
}

void add_operator_notes(const Program& program, const std::vector<OperatorUse>& uses, Draft& draft) {
  for (const OperatorUse& use : uses) {
    if (!in_program(program, use.call.site) || draft.notes.size() >= 5)
      continue;
    draft.notes.emplace_back(use.call.site, shown_name(*use.call.site.event) + " stays non-deterministic");
    for (const std::string& name : operators_of(*use.row))
      if (std::find(draft.operators.begin(), draft.operators.end(), name) == draft.operators.end())
        draft.operators.push_back(name);
  }
}

// Operators that the strict mode governs: they throw or switch.
std::vector<OperatorUse> governed(const Context& context, bool reported_only) {
  std::vector<OperatorUse> uses = operator_uses(context, reported_only);
  std::erase_if(uses, [](const OperatorUse& use) {
    const std::string strict = use.row->at("strict");
    const bool on_cuda = std::any_of(use.row->at("devices").begin(), use.row->at("devices").end(),
                                     [](const json& d) { return d == "cuda"; });
    const bool allocation = use.row->at("operator") == "aten::empty";
    return strict == "silent" || strict == "deterministic" || !on_cuda || allocation;
  });
  return uses;
}

void judge_without(const KnobCheck& check) {
  const std::vector<KnobWrite> needed = switched_on(check.context, check.options.at("needs"));
  const std::vector<OperatorUse> uses = governed(check.context, true);
  for (const KnobWrite& write : switched_on(check.context, check.options.at("knob")))
    for (const Program* program : check.context.evidence.programs_of(write.site.in.function)) {
      const bool needs = std::any_of(uses.begin(), uses.end(), [&](const OperatorUse& use) {
        return in_program(*program, use.call.site);
      });
      if (any_in(*program, needed) || !needs)
        continue;
      Draft draft =
          check.draft_at(write.site, message_of(check.options, {shown_name(*write.site.event), "", ""}));
      add_operator_notes(*program, uses, draft);
      check.findings.add(std::move(draft));
    }
}

// The first seed of the program that is not entropy: its author wants runs to agree.
Site seed_of(const Context& context, const Program& program) {
  for (const FunctionRef& ref : context.project.functions()) {
    if (!program.functions.contains(ref.function))
      continue;
    for (const Event& event : ref.function->events)
      for (const Effect& effect : context.effects.of(&event)) {
        if (effect.kind != Effect::Kind::seed || effect.name != "torch" || !effect.argument)
          continue;
        bool entropy = false;
        walk(context.project, ref, *effect.argument, {.parameters = true}, [&](const Visit& visit) {
          entropy |= visit.event && context.effects.entropy(*visit.event);
          return !entropy;
        });
        if (!entropy)
          return {ref, &event};
      }
  }
  return {};
}

void judge_never(const KnobCheck& check) {
  std::vector<KnobWrite> on;
  for (const std::string& knob : strings(check.options, "knobs"))
    for (const KnobWrite& write : switched_on(check.context, knob))
      on.push_back(write);
  const std::vector<OperatorUse> uses = governed(check.context, false);
  for (const Program& program : check.context.evidence.programs()) {
    if (!program.trains || !program.uses_cuda || any_in(program, on))
      continue;
    const bool needs = std::any_of(
        uses.begin(), uses.end(), [&](const OperatorUse& use) { return in_program(program, use.call.site); });
    const Site seed = seed_of(check.context, program);
    if (!needs || !seed)
      continue;
    Draft draft = check.draft_at(seed, message_of(check.options, {shown_name(*seed.event), "", ""}));
    add_operator_notes(program, uses, draft);
    check.findings.add(std::move(draft));
  }
}

using Check = void (*)(const KnobCheck&);
const std::map<std::string, Check, std::less<>> kChecks = {{"together", judge_together},
                                                           {"states", judge_states},
                                                           {"on", judge_on},
                                                           {"without", judge_without},
                                                           {"never", judge_never},
                                                           {"mixed", judge_mixed},
                                                           {"late", judge_late},
                                                           {"leaks", judge_leaks},
                                                           {"per-object", judge_per_object},
                                                           {"never-called", judge_never_called},
                                                           {"called", judge_called},
                                                           {"environment-needed", judge_environment_needed},
                                                           {"environment-value", judge_environment_value},
                                                           {"varying-shapes", judge_varying_shapes}};

} // namespace

void judge_knobs(const Context& context, Findings& findings) {
  const json& options = findings.rule().options;
  for (const json& check : options.contains("checks") ? options["checks"] : json::array({options})) {
    const auto judge = kChecks.find(check.value("check", ""));
    if (judge == kChecks.end())
      throw Error("no such check", "rules/checks/" + findings.rule().id + ".yaml", check.value("check", ""),
                  "see analyzer/scan/judge/knobs/knobs.cpp", 3);
    judge->second({context, findings, check});
  }
}

} // namespace reprobe::scan
