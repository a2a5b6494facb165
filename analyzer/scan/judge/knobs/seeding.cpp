// Family `seeding`: programs that draw random numbers without a seed, from entropy, or before the seed.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/context.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

bool is(const Effect& effect, Effect::Kind kind, const std::string& generator) {
  return effect.kind == kind && effect.name == generator;
}

bool is_any_draw(const Effect& effect, const std::string& generator) {
  return is(effect, Effect::Kind::draw, generator) || is(effect, Effect::Kind::draw_later, generator);
}

std::string generator_name(const std::string& generator) {
  static const std::map<std::string, std::string> names = {
      {"torch", "LibTorch's default generators"}, {"torch-cuda", "LibTorch's CUDA generators"},
      {"torch-object", "this generator"},         {"c-library", "rand()"},
      {"curand", "this cuRAND generator"},        {"curand-device", "this cuRAND state"},
      {"opencv", "OpenCV's generator"},           {"standard-library", "this random engine"},
      {"abseil", "Abseil's generator"},           {"folly", "Folly's generator"}};
  const auto found = names.find(generator);
  return found == names.end() ? generator : found->second;
}

// Without both there is no order of seeds and draws: whole runs need not be looked at.
bool is_seeded_and_drawn(const Context& context, const std::string& generator) {
  bool seeded = false, drawn = false;
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      for (const Effect& effect : context.effects.of(&event)) {
        seeded |= is(effect, Effect::Kind::seed, generator);
        drawn |= is(effect, Effect::Kind::draw, generator);
      }
  return seeded && drawn;
}

// --- a program that never seeds ---

struct Draws {
  std::vector<Site> sites;           // in source order of functions, main's first
  std::vector<Site> besides_layers; // not the first parameters of a layer
  bool seeded = false;
};

Draws draws_of(const Context& context, const Program& program, const std::string& generator) {
  Draws draws;
  for (const FunctionRef& ref : context.project.functions()) {
    if (!program.functions.contains(ref.function))
      continue;
    for (const Event& event : ref.function->events)
      for (const Effect& effect : context.effects.of(&event)) {
        if (is(effect, Effect::Kind::seed, generator))
          draws.seeded = true;
        if (!is_any_draw(effect, generator))
          continue;
        draws.sites.push_back({ref, &event});
        if (!effect.layer)
          draws.besides_layers.push_back({ref, &event});
      }
  }
  return draws;
}

// The draw that comes first on some path of main, if main's paths show one; of a program that loads weights one that is
// no layer's: its numbers are what is left.
Site first_draw(const Context& context, const Program& program, const std::string& generator, bool besides_layers) {
  Site first;
  context.execution.run(program.main, {generator}, [&](const Site& site, const World&) {
    for (const Effect& effect : context.effects.of(site.event))
      if (!first && is_any_draw(effect, generator) && !(besides_layers && effect.layer))
        first = site;
  });
  return first;
}

void judge_missing(const Context& context, Findings& findings) {
  const std::string generator = findings.rule().options.value("generator", "torch");
  for (const Program& program : context.evidence.programs()) {
    const Draws draws = draws_of(context, program, generator);
    if (draws.seeded || draws.sites.empty())
      continue;
    // Layers that are only made to be overwritten by stored weights need no seed.
    const bool only_layers = draws.besides_layers.empty();
    if (only_layers && !program.trains && program.loads_weights)
      continue;
    const bool besides_layers = program.loads_weights && !only_layers;
    Site first = first_draw(context, program, generator, besides_layers);
    if (!first)
      first = besides_layers ? draws.besides_layers.front() : draws.sites.front();
    Draft draft;
    draft.site = {program.main, nullptr}; // the seed belongs there, and one draw may be of several programs
    draft.message = fmt::format("nothing in this program seeds LibTorch's default generator, and {} draws from it: every "
                                "run starts from other random numbers",
                                shown_name(*first.event));
    draft.fix = findings.rule().fix;
    draft.notes.emplace_back(first, shown_name(*first.event) + " draws here");
    for (const Site& site : draws.sites)
      if (!(site == first) && draft.notes.size() < 6)
        draft.notes.emplace_back(site, shown_name(*site.event) + " draws as well");
    findings.add(std::move(draft));
  }
}

// --- a program that seeds only sometimes ---

void judge_conditional(const Context& context, Findings& findings) {
  const std::string generator = findings.rule().options.value("generator", "torch");
  if (!is_seeded_and_drawn(context, generator))
    return;
  for (const Program& program : context.evidence.programs()) {
    Site seed, draw;
    context.execution.run(
        program.main, {generator},
        [&](const Site& site, const World&) {
          for (const Effect& effect : context.effects.of(site.event))
            if (!seed && is(effect, Effect::Kind::seed, generator))
              seed = site;
        },
        [&](const World& world) {
          const auto state = world.generators.find(generator);
          if (!draw && state != world.generators.end() && !state->second.seed && state->second.first_draw)
            draw = state->second.first_draw;
        });
    if (!seed || !draw)
      continue;
    Draft draft;
    draft.site = draw;
    draft.message = fmt::format(
        "{} draws from LibTorch's default generator, which this program seeds on other paths only",
        shown_name(*draw.event));
    draft.fix = findings.rule().fix;
    draft.notes.emplace_back(seed, "seeded here, under a condition");
    draft.notes.emplace_back(Site{program.main, nullptr}, "the program starts here");
    findings.add(std::move(draft));
  }
}

// --- a program that seeds one generator and draws from another ---

// Generators that start from entropy, unlike rand(), OpenCV's and the engines of <random>.
bool starts_from_entropy(const Context& context, const std::string& generator) {
  for (const json& row : context.registry.table("generators"))
    if (row.value("generator", "") == generator && row.value("starts-from-entropy", false))
      return true;
  return false;
}

void judge_partial(const Context& context, Findings& findings) {
  for (const Program& program : context.evidence.programs()) {
    std::map<std::string, Site> seeds, draws;
    for (const FunctionRef& ref : context.project.functions())
      if (program.functions.contains(ref.function))
        for (const Event& event : ref.function->events)
          for (const Effect& effect : context.effects.of(&event)) {
            if (effect.kind == Effect::Kind::seed)
              seeds.try_emplace(effect.name, Site{ref, &event});
            if (effect.kind == Effect::Kind::draw || effect.kind == Effect::Kind::draw_later)
              draws.try_emplace(effect.name, Site{ref, &event});
          }
    for (const auto& [generator, draw] : draws) {
      if (seeds.contains(generator) || !starts_from_entropy(context, generator))
        continue;
      // LibTorch's default generator alone is what missing-seed speaks of.
      const auto other = generator == "torch" ? seeds.find("torch-cuda") : seeds.begin();
      if (other == seeds.end())
        continue;
      Draft draft;
      draft.site = generator == "torch" ? other->second : draw;
      draft.message =
          generator == "torch"
              ? fmt::format("this seeds the CUDA generators only: {} draws from the CPU generator, which "
                            "stays unseeded",
                            shown_name(*draw.event))
              : fmt::format("{} draws from {}, which starts from entropy and is not seeded, while others are",
                            shown_name(*draw.event), generator_name(generator));
      draft.fix = findings.rule().fix;
      if (generator == "torch")
        draft.notes.emplace_back(draw, "drawn here");
      else
        draft.notes.emplace_back(other->second, "this generator is seeded");
      findings.add(std::move(draft));
    }
  }
}

// --- a training that goes on without the generators' state ---

void judge_resume(const Context& context, Findings& findings) {
  const SymbolIndex states(context.registry.table("checkpoints"));
  for (const Program& program : context.evidence.programs()) {
    if (!program.trains)
      continue;
    Site load;
    bool keeps_state = false, draws = false;
    for (const FunctionRef& ref : context.project.functions())
      if (program.functions.contains(ref.function))
        for (const Event& event : ref.function->events) {
          for (const SymbolIndex::Match& match : states.find(event)) {
            const json& row = *match.row;
            if (row.at("role") == "generator-state")
              keeps_state = true;
            const json types = row.value("argument-type", json::array());
            const bool fits =
                std::any_of(event.arguments.begin(), event.arguments.end(), [&](const Value& argument) {
                  return std::any_of(types.begin(), types.end(), [&](const json& type) {
                    return argument.type.find(type.get<std::string>()) != std::string::npos;
                  });
                });
            if (row.at("role") == "loads-progress" && fits && !load)
              load = {ref, &event};
          }
          for (const Effect& effect : context.effects.of(&event))
            draws |= !effect.layer && (is(effect, Effect::Kind::draw, "torch") ||
                                       is(effect, Effect::Kind::draw_later, "torch"));
        }
    if (!load || keeps_state || !draws)
      continue;
    Draft draft;
    draft.site = load;
    draft.message = "training goes on from a stored optimizer, but with other random numbers than the run "
                    "that was stopped: "
                    "no generator's state is stored";
    draft.fix = findings.rule().fix;
    draft.notes.emplace_back(Site{program.main, nullptr}, "the program starts here");
    findings.add(std::move(draft));
  }
}

// --- seeds from entropy ---

struct Origin {
  Site source;
  std::string what;
};

// Functions such as `unsigned make_seed()`: where the facts hold no return, any entropy inside makes the
// result.
Site entropy_inside(const Context& context, FunctionRef callee, std::string& what) {
  if (!is_integer_type(callee.function->result_type))
    return {};
  for (const Event& event : callee.function->events)
    if (const json* row = context.effects.entropy(event); row && event.result_used) {
      what = row->at("what");
      return {callee, &event};
    }
  return {};
}

// `(std::uintptr_t)&object`
bool is_address(const Value& value) {
  return value.kind == Value::Kind::compound && value.text == "cast" && is_integer_type(value.type) &&
         value.operands.size() == 1 && value.operands[0].type.ends_with("*") &&
         value.operands[0].kind != Value::Kind::null;
}

std::vector<Origin> entropy_of(const Context& context, const Site& sink, const Value& value) {
  std::vector<Origin> origins;
  walk(context.project, sink.in, value, {.parameters = true}, [&](const Visit& visit) {
    // The engine that the seed is for, or another one, is reported where it is seeded itself.
    if (context.effects.is_engine(visit.value->type) ||
        (visit.event && context.effects.is_engine(visit.event->result_type)))
      return visit.event && visit.event == sink.event;
    if (is_address(*visit.value)) {
      origins.push_back({sink, "an address, which differs from run to run"});
      return false;
    }
    if (!visit.event)
      return true;
    if (const json* row = context.effects.entropy(*visit.event)) {
      origins.push_back({{visit.in, visit.event}, row->at("what").get<std::string>()});
      return false;
    }
    if (const FunctionRef callee = context.project.definition(visit.event->callee_usr, *visit.in.unit);
        callee && returned_values(*callee.function).empty()) {
      std::string what;
      if (const Site inside = entropy_inside(context, callee, what))
        origins.push_back({{visit.in, visit.event}, what});
    }
    return true;
  });
  return origins;
}

// Whether `from` runs `function`, directly or through others.
bool runs(const Codebase& project, FunctionRef from, FunctionRef function, int depth = 0) {
  constexpr int kDeepest = 4;
  if (from == function)
    return true;
  if (depth >= kDeepest)
    return false;
  for (const Event& event : from.function->events)
    for (const FunctionRef& callee : project.callees(from, event))
      if (runs(project, callee, function, depth + 1))
        return true;
  return false;
}

void report_entropy(const Context& context, const Site& sink, const std::string& generator,
                    const Origin& origin, Findings& findings) {
  // Read by a helper that the seeding function asks for a seed, the fault is where the seed is used.
  const bool here = runs(context.project, sink.in, origin.source.in);
  Draft draft;
  draft.site = here ? sink : origin.source; // a seed that callers choose is the caller's
  draft.message = fmt::format("{} is seeded from {}: every run draws other random numbers",
                              generator_name(generator), origin.what);
  draft.fix = findings.rule().fix;
  if (here && !(origin.source == sink))
    draft.notes.emplace_back(origin.source, origin.what + " is read here");
  if (!here)
    draft.notes.emplace_back(sink, "the seed is used here");
  findings.add(std::move(draft));
}

void judge_seed_effect(const Context& context, const Site& site, const Effect& effect, Findings& findings) {
  std::vector<const Value*> seeds;
  if (effect.argument)
    seeds.push_back(effect.argument);
  else
    for (const Value& argument : site.event->arguments)
      seeds.push_back(&argument);
  for (const Value* seed : seeds)
    for (const Origin& origin : entropy_of(context, site, *seed))
      report_entropy(context, site, effect.name, origin, findings);
}

// `std::shuffle(…, std::random_device{})`, `distribution(device)`: entropy without any engine.
void judge_direct_draw(const Context& context, const Site& site, Findings& findings) {
  const Event& event = *site.event;
  if (event.kind != Event::Kind::call || !event.external)
    return;
  const std::string name = last_part(event.callee);
  const bool draws = name == "shuffle" || name == "sample" ||
                     event.callee.find("_distribution") != std::string::npos || name == "generate_canonical";
  if (!draws)
    return;
  for (const Value& argument : event.arguments)
    if (const json* row = context.effects.entropy_type(argument.type)) {
      Draft draft;
      draft.site = site;
      draft.message = fmt::format("{} draws straight from {}, which no seed controls", shown_name(event),
                                  row->at("what").get<std::string>());
      draft.fix = findings.rule().fix;
      findings.add(std::move(draft));
    }
}

void judge_entropy(const Context& context, Findings& findings) {
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events) {
      const Site site{ref, &event};
      for (const Effect& effect : context.effects.of(&event))
        if (effect.kind == Effect::Kind::seed)
          judge_seed_effect(context, site, effect, findings);
      judge_direct_draw(context, site, findings);
      if (const json* row = context.effects.entropy(event); row && row->value("seeds-itself", false)) {
        Draft draft;
        draft.site = site;
        draft.message = fmt::format("the generator is seeded by {}", row->at("what").get<std::string>());
        draft.fix = findings.rule().fix;
        findings.add(std::move(draft));
      }
    }
}

// --- seeds that come too late ---

void judge_order(const Context& context, const std::string& generator, Findings& findings) {
  context.execution.run_all({generator}, [&](const Site& site, const World& world) {
    for (const Effect& effect : context.effects.of(site.event)) {
      if (!is(effect, Effect::Kind::seed, generator))
        continue;
      const auto found = world.generators.find(generator);
      if (found == world.generators.end() || found->second.seed || !found->second.first_draw)
        continue;
      const Site& draw = found->second.first_draw;
      Draft draft;
      draft.site = site;
      draft.message = fmt::format("the seed comes after {} has already drawn from the unseeded generator",
                                  shown_name(*draw.event));
      draft.fix = findings.rule().fix;
      draft.notes.emplace_back(draw, "first draw, before any seed");
      draft.by_name = effect.by_name;
      findings.add(std::move(draft));
    }
  });
}

// Globals that draw do so before main can seed.
void judge_globals(const Context& context, const std::string& generator, Findings& findings) {
  for (const Program& program : context.evidence.programs()) {
    const Draws draws = draws_of(context, program, generator);
    if (!draws.seeded)
      continue; // missing-seed's matter
    for (const FunctionRef& ref : context.project.functions()) {
      if (ref.function->name != "<static-init>" || !program.functions.contains(ref.function))
        continue;
      Site first;
      context.execution.run(
          ref, {generator}, [](const Site&, const World&) {},
          [&](const World& world) {
            if (const auto state = world.generators.find(generator);
                state != world.generators.end() && !state->second.seed)
              first = state->second.first_draw;
          });
      if (!first)
        continue;
      Draft draft;
      draft.site = first;
      draft.message =
          fmt::format("{} draws while globals are initialised, before main can seed the generator",
                      shown_name(*first.event));
      draft.fix = findings.rule().fix;
      draft.notes.emplace_back(Site{program.main, nullptr}, "main starts here");
      findings.add(std::move(draft));
    }
  }
}

void judge_after_use(const Context& context, Findings& findings) {
  const std::string generator = findings.rule().options.value("generator", "torch");
  if (!is_seeded_and_drawn(context, generator))
    return;
  judge_globals(context, generator, findings);
  judge_order(context, generator, findings);
}

} // namespace

void judge_seeding(const Context& context, Findings& findings) {
  const std::string check = findings.rule().options.value("check", "");
  if (check == "missing")
    judge_missing(context, findings);
  if (check == "entropy")
    judge_entropy(context, findings);
  if (check == "after-use")
    judge_after_use(context, findings);
  if (check == "conditional")
    judge_conditional(context, findings);
  if (check == "partial")
    judge_partial(context, findings);
  if (check == "resume")
    judge_resume(context, findings);
}

} // namespace reprobe::scan
