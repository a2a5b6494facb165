// Family `knobs`: process-wide switches that contradict each other, do too little, or are never set.
//
// options.check
//   together   `knob` is switched on while one of `with` is on, at a call that uses LibTorch or at the end
//   on         `knob` is switched on
//   without    `knob` is switched on, and nothing in the program switches `needs` on, though operators need
//   it never      none of `knobs` is ever switched on in a program that is seeded, trains, and has operators
//   that need it
// options.message   {name} and {other} stand for the switches' names
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"
#include "analyzer/scan/judge/operator_rows.h"

#include <algorithm>
#include <fmt/args.h>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

std::vector<std::string> strings(const json& options, const std::string& key) {
  return options.value(key, std::vector<std::string>{});
}

std::string message_of(const Findings& findings, const std::string& name, const std::string& other) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  arguments.push_back(fmt::arg("name", name));
  arguments.push_back(fmt::arg("other", other));
  return fmt::vformat(findings.rule().options.at("message").get<std::string>(), arguments);
}

bool uses_libtorch(const Context& context, const Event& event) {
  if (event.kind != Event::Kind::call && event.kind != Event::Kind::construct)
    return false;
  for (const Effect& effect : context.effects.of(&event))
    if (effect.kind == Effect::Kind::write_knob)
      return false;
  const std::string name = plain_name(event.callee);
  if (name.find("::Context::") != std::string::npos || last_part(name) == "globalContext" ||
      last_part(name) == "manual_seed" || name.find("cuda::is_available") != std::string::npos ||
      name.find("Device") != std::string::npos)
    return false;
  return name.rfind("at::", 0) == 0 || name.rfind("torch::", 0) == 0 || name.rfind("c10::", 0) == 0;
}

void judge_together(const Context& context, Findings& findings) {
  const json& options = findings.rule().options;
  const std::string knob = options.at("knob");
  const auto check = [&](const World& world) {
    const World::Knob* on = world.knob(knob);
    if (!on || !on->writer)
      return;
    for (const std::string& other : strings(options, "with")) {
      if (!world.may_both_be_on(knob, other))
        continue;
      Draft draft;
      draft.site = on->writer;
      draft.message =
          message_of(findings, shown_name(*on->writer.event), shown_name(*world.knob(other)->writer.event));
      draft.fix = findings.rule().fix;
      draft.notes.emplace_back(world.knob(other)->writer, "deterministic behaviour is asked for here");
      findings.add(std::move(draft));
      return;
    }
  };
  for (const FunctionRef& root : context.execution.roots())
    context.execution.run(
        root,
        [&](const Site& site, const World& world) {
          if (uses_libtorch(context, *site.event))
            check(world);
        },
        check);
}

// Writes that may switch the knob on, over all paths.
std::vector<Site> switched_on(const Context& context, const std::string& knob) {
  std::vector<Site> sites;
  const auto note = [&](const Site& writer) {
    if (writer && std::find(sites.begin(), sites.end(), writer) == sites.end())
      sites.push_back(writer);
  };
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      for (const Effect& effect : context.effects.of(&event)) {
        if (effect.name != knob ||
            (effect.kind != Effect::Kind::write_knob && effect.kind != Effect::Kind::guard))
          continue;
        const Truth value =
            effect.argument ? truth_of(*ref.function, *effect.argument, {}) : Truth::of(effect.value);
        if (value.kind != Truth::Kind::no)
          note({ref, &event});
      }
  return sites;
}

bool certainly_on(const Site& site, const Context& context, const std::string& knob) {
  for (const Effect& effect : context.effects.of(site.event))
    if (effect.name == knob && effect.argument) {
      const auto value = constant_integer(context.project, site.in, *effect.argument);
      return value && *value != 0;
    }
  return false;
}

void judge_on(const Context& context, Findings& findings) {
  const std::string knob = findings.rule().options.at("knob");
  const std::string only_with = findings.rule().options.value("only-with", "");
  for (const Site& site : switched_on(context, knob)) {
    if (!certainly_on(site, context, knob))
      continue;
    if (!only_with.empty()) {
      const std::vector<Site> base = switched_on(context, only_with);
      if (std::find(base.begin(), base.end(), site) == base.end())
        continue;
    }
    Draft draft;
    draft.site = site;
    draft.message = message_of(findings, shown_name(*site.event), "");
    draft.fix = findings.rule().fix;
    findings.add(std::move(draft));
  }
}

bool in_program(const Program& program, const Site& site) {
  return program.functions.contains(site.in.function);
}

bool any_in(const Program& program, const std::vector<Site>& sites) {
  return std::any_of(sites.begin(), sites.end(), [&](const Site& site) { return in_program(program, site); });
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

void judge_without(const Context& context, Findings& findings) {
  const json& options = findings.rule().options;
  const std::vector<Site> on = switched_on(context, options.at("knob")),
                          needed = switched_on(context, options.at("needs"));
  const std::vector<OperatorUse> uses = governed(context, true);
  for (const Site& site : on)
    for (const Program* program : context.evidence.programs_of(site.in.function)) {
      const bool needs = std::any_of(uses.begin(), uses.end(), [&](const OperatorUse& use) {
        return in_program(*program, use.call.site);
      });
      if (any_in(*program, needed) || !needs)
        continue;
      Draft draft;
      draft.site = site;
      draft.message = message_of(findings, shown_name(*site.event), "");
      draft.fix = findings.rule().fix;
      add_operator_notes(*program, uses, draft);
      findings.add(std::move(draft));
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

void judge_never(const Context& context, Findings& findings) {
  std::vector<Site> on;
  for (const std::string& knob : strings(findings.rule().options, "knobs"))
    for (const Site& site : switched_on(context, knob))
      on.push_back(site);
  const std::vector<OperatorUse> uses = governed(context, false);
  for (const Program& program : context.evidence.programs()) {
    if (!program.trains || !program.uses_cuda || any_in(program, on))
      continue;
    const bool needs = std::any_of(
        uses.begin(), uses.end(), [&](const OperatorUse& use) { return in_program(program, use.call.site); });
    const Site seed = seed_of(context, program);
    if (!needs || !seed)
      continue;
    Draft draft;
    draft.site = seed;
    draft.message = message_of(findings, shown_name(*seed.event), "");
    draft.fix = findings.rule().fix;
    add_operator_notes(program, uses, draft);
    findings.add(std::move(draft));
  }
}

} // namespace

void judge_knobs(const Context& context, Findings& findings) {
  const std::string check = findings.rule().options.value("check", "");
  if (check == "together")
    judge_together(context, findings);
  if (check == "on")
    judge_on(context, findings);
  if (check == "without")
    judge_without(context, findings);
  if (check == "never")
    judge_never(context, findings);
}

} // namespace reprobe::scan
