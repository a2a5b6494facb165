// Input sizes that change from step to step while cuDNN chooses algorithms by timing: each new size is timed
// anew.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/knobs/knob_writes.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

struct VaryingShape {
  Site site;
  const json* row = nullptr;
};

bool is_in_loop(const Site& site) {
  for (const Block& block : site.in.function->blocks)
    if (block.in_loop &&
        std::find(block.events.begin(), block.events.end(), site.event->id) != block.events.end())
      return true;
  return false;
}

bool is_reassigned_in_loop(const Context& context, FunctionRef in, const Value& variable) {
  const std::vector<Site> definitions = context.project.definitions(variable.id, in);
  return std::any_of(definitions.begin(), definitions.end(), [](const Site& site) {
    return site.event->kind == Event::Kind::assign && is_in_loop(site);
  });
}

bool is_draw(const Context& context, const Event& event) {
  const std::vector<Effect>& effects = context.effects.of(&event);
  const bool draws = std::any_of(effects.begin(), effects.end(),
                                 [](const Effect& effect) { return effect.kind == Effect::Kind::draw; });
  return draws || plain_name(event.callee).find("_distribution::operator()") != std::string::npos;
}

bool argument_varies(const Context& context, const Site& site, const Value& argument) {
  bool varies = false;
  walk(context.project, site.in, argument, {.chained = true, .deepest = 16}, [&](const Visit& visit) {
    const Value& value = *visit.value;
    // The size of another tensor follows that tensor.
    if (plain_name(value.type) == "at::Tensor")
      return false;
    if (value.kind == Value::Kind::variable && is_integer_type(value.type))
      varies |= is_reassigned_in_loop(context, visit.in, value);
    varies |= visit.event && is_draw(context, *visit.event);
    return !varies;
  });
  return varies;
}

// `options.drop_last(true)` anywhere in the arguments.
bool is_given(const Context& context, const Site& site, const std::string& option) {
  bool given = false;
  for (const Value& argument : site.event->arguments)
    walk(context.project, site.in, argument, {.chained = true, .deepest = 16}, [&](const Visit& visit) {
      if (visit.event && last_part(visit.event->callee) == option && !visit.event->arguments.empty()) {
        const auto value = constant_integer(context.project, visit.in, visit.event->arguments[0]);
        given |= !value || *value != 0;
      }
      return !given;
    });
  for (const Event& event : site.in.function->events) // `options.drop_last(true);`, and later `options`
    given |= last_part(event.callee) == option && !event.arguments.empty() && event.arguments[0].integer != 0;
  return given;
}

bool varies(const Context& context, const Site& site, const json& row) {
  if (row.value("sizes-vary", false)) {
    const std::vector<Value>& arguments = site.event->arguments;
    return std::any_of(arguments.begin() + std::min<std::size_t>(1, arguments.size()), arguments.end(),
                       [&](const Value& argument) { return argument_varies(context, site, argument); });
  }
  return !row.contains("unless-option") || !is_given(context, site, row["unless-option"]);
}

std::vector<VaryingShape> varying_shapes(const Context& context, const json& table) {
  const SymbolIndex index(table);
  std::vector<VaryingShape> out;
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      if (event.kind == Event::Kind::call || event.kind == Event::Kind::construct)
        for (const SymbolIndex::Match& match : index.find(event))
          if (varies(context, {ref, &event}, *match.row))
            out.push_back({{ref, &event}, match.row});
  return out;
}

std::string folder_of(FunctionRef ref) {
  const std::string& file = file_of(ref);
  return file.substr(0, file.rfind('/') + 1);
}

// Where headers are missing, calls into other files may not be resolved: files beside main then count as
// well.
bool may_run(const Program& program, const Site& site) {
  return in_program(program, site) ||
         (program.main && program.partial && folder_of(program.main) == folder_of(site.in));
}

bool is_weak(const VaryingShape& shape) {
  return shape.row->value("confidence", "") == "low";
}

} // namespace

// `knob` is certainly switched on in a program that trains, and rows of `table` show that its input sizes
// vary.
void judge_varying_shapes(const KnobCheck& check) {
  const std::vector<VaryingShape> shapes = varying_shapes(
      check.context, check.context.registry.table(check.options.at("table").get<std::string>()));
  for (const KnobWrite& write : switched_on(check.context, check.options.at("knob"))) {
    if (!certainly_sets(check.context, write, true) ||
        !may_be_trained_with(check.context, write.site.in.function))
      continue;
    std::vector<VaryingShape> here;
    for (const Program* program : check.context.evidence.programs_of(write.site.in.function))
      for (const VaryingShape& shape : shapes)
        if (may_run(*program, shape.site))
          here.push_back(shape);
    std::stable_partition(here.begin(), here.end(),
                          [](const VaryingShape& shape) { return !is_weak(shape); });
    if (here.empty())
      continue;
    const std::string what = here.front().row->at("what");
    Draft draft =
        check.draft_at(write.site, message_of(check.options, {shown_name(*write.site.event),
                                                              shown_name(*here.front().site.event), what}));
    if (is_weak(here.front()))
      draft.confidence = "low";
    for (const VaryingShape& shape : here)
      if (draft.notes.size() < 5)
        draft.notes.emplace_back(shape.site, shape.row->at("what").get<std::string>());
    check.findings.add(std::move(draft));
  }
}

} // namespace reprobe::scan
