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

// --- a program that never seeds ---

struct Draws {
  std::vector<Site> sites; // in source order of functions, main's first
  bool only_layers = true;
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
        if (!is(effect, Effect::Kind::draw, generator) && !is(effect, Effect::Kind::draw_later, generator))
          continue;
        draws.sites.push_back({ref, &event});
        if (!effect.layer)
          draws.only_layers = false;
      }
  }
  return draws;
}

// The draw that comes first on some path of main, if main's paths show one.
Site first_draw(const Context& context, const Program& program, const std::string& generator) {
  Site first;
  context.execution.run(program.main, [&](const Site&, const World& world) {
    if (first)
      return;
    if (const auto found = world.generators.find(generator);
        found != world.generators.end() && found->second.first_draw)
      first = found->second.first_draw;
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
    if (draws.only_layers && !program.trains && program.loads_weights)
      continue;
    Site first = first_draw(context, program, generator);
    if (!first)
      first = draws.sites.front();
    Draft draft;
    draft.site = first;
    draft.message = fmt::format(
        "{} draws from LibTorch's default generator, which nothing in this program seeds: every run starts "
        "from other random numbers",
        shown_name(*first.event));
    draft.fix = findings.rule().fix;
    draft.notes.emplace_back(Site{program.main, nullptr}, "the program starts here");
    for (const Site& site : draws.sites)
      if (!(site == first) && draft.notes.size() < 6)
        draft.notes.emplace_back(site, shown_name(*site.event) + " draws as well");
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

std::vector<Origin> entropy_of(const Context& context, const Site& sink, const Value& value) {
  std::vector<Origin> origins;
  walk(context.project, sink.in, value, {.parameters = true}, [&](const Visit& visit) {
    // The engine that the seed is for, or another one, is reported where it is seeded itself.
    if (context.effects.is_engine(visit.value->type) ||
        (visit.event && context.effects.is_engine(visit.event->result_type)))
      return visit.event && visit.event == sink.event;
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

std::string generator_name(const std::string& generator) {
  static const std::map<std::string, std::string> names = {
      {"torch", "LibTorch's default generators"}, {"torch-cuda", "LibTorch's CUDA generators"},
      {"torch-object", "this generator"},         {"c-library", "rand()"},
      {"curand", "this cuRAND generator"},        {"curand-device", "this cuRAND state"},
      {"opencv", "OpenCV's generator"},           {"standard-library", "this random engine"}};
  const auto found = names.find(generator);
  return found == names.end() ? generator : found->second;
}

void report_entropy(const Site& sink, const std::string& generator, const Origin& origin,
                    Findings& findings) {
  const bool here = origin.source.in == sink.in;
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
      report_entropy(site, effect.name, origin, findings);
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

void judge_order_of(const Context& context, FunctionRef root, const std::string& generator,
                    Findings& findings) {
  context.execution.run(root, [&](const Site& site, const World& world) {
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

void judge_after_use(const Context& context, Findings& findings) {
  const std::string generator = findings.rule().options.value("generator", "torch");
  for (const FunctionRef& root : context.execution.roots())
    judge_order_of(context, root, generator, findings);
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
}

} // namespace reprobe::scan
