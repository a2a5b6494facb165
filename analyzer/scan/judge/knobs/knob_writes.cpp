#include "analyzer/scan/judge/knobs/knob_writes.h"

#include "analyzer/scan/flow/names.h"

#include <algorithm>
#include <array>
#include <fmt/args.h>
#include <fmt/format.h>

namespace reprobe::scan {

using nlohmann::json;

std::vector<std::string> strings(const json& options, const std::string& key) {
  return options.value(key, std::vector<std::string>{});
}

std::vector<KnobWrite> writes_of(const Context& context, const std::string& knob) {
  std::vector<KnobWrite> writes;
  for (const FunctionRef& ref : context.project.functions())
    for (const Event& event : ref.function->events)
      for (const Effect& effect : context.effects.of(&event))
        if (effect.name == knob &&
            (effect.kind == Effect::Kind::write_knob || effect.kind == Effect::Kind::guard))
          writes.push_back({{ref, &event}, &effect});
  return writes;
}

std::vector<KnobWrite> switched_on(const Context& context, const std::string& knob) {
  std::vector<KnobWrite> writes = writes_of(context, knob);
  std::erase_if(writes, [](const KnobWrite& write) {
    return written_value(*write.site.in.function, *write.effect, {}).kind == Truth::Kind::no;
  });
  return writes;
}

bool certainly_sets(const Context& context, const KnobWrite& write, bool value) {
  const Truth written = written_value(*write.site.in.function, *write.effect, {});
  if (written.kind == Truth::Kind::yes || written.kind == Truth::Kind::no)
    return (written.kind == Truth::Kind::yes) == value;
  const bool compares_names = write.effect->row && write.effect->row->contains("on-values");
  if (!write.effect->argument || compares_names)
    return false;
  const auto constant = constant_integer(context.project, write.site.in, *write.effect->argument);
  return constant && (*constant != 0) == value;
}

std::string message_of(const json& check, const MessageParts& parts) {
  fmt::dynamic_format_arg_store<fmt::format_context> arguments;
  arguments.push_back(fmt::arg("name", parts.name));
  arguments.push_back(fmt::arg("other", parts.other));
  arguments.push_back(fmt::arg("what", parts.what));
  return fmt::vformat(check.at("message").get<std::string>(), arguments);
}

bool uses_libtorch(const Context& context, const Event& event) {
  if (event.kind != Event::Kind::call && event.kind != Event::Kind::construct)
    return false;
  for (const Effect& effect : context.effects.of(&event))
    if (effect.kind == Effect::Kind::write_knob && !effect.once)
      return false;
  const std::string name = plain_name(event.callee), last = last_part(name);
  static constexpr std::array<std::string_view, 4> settings = {
      "::Context::", "::autocast::", "cuda::is_available", "Device"};
  if (std::any_of(settings.begin(), settings.end(),
                  [&](auto part) { return name.find(part) != std::string::npos; }) ||
      last == "globalContext" || last == "manual_seed")
    return false;
  return name.rfind("at::", 0) == 0 || name.rfind("torch::", 0) == 0 || name.rfind("c10::", 0) == 0;
}

bool in_program(const Program& program, const Site& site) {
  return program.functions.contains(site.in.function);
}

bool any_in(const Program& program, const std::vector<KnobWrite>& writes) {
  return std::any_of(writes.begin(), writes.end(),
                     [&](const KnobWrite& write) { return in_program(program, write.site); });
}

bool may_be_trained_with(const Context& context, const Function* function) {
  const std::vector<const Program*> programs = context.evidence.programs_of(function);
  return std::any_of(programs.begin(), programs.end(), [&](const Program* program) {
    return !program->main || program->trains || (program->partial && context.evidence.whole().trains);
  });
}

Draft KnobCheck::draft_at(const Site& site, std::string message) const {
  Draft draft;
  draft.site = site;
  draft.message = std::move(message);
  draft.fix = options.value("fix", findings.rule().fix);
  draft.confidence = options.value("confidence", "");
  if (options.contains("tags"))
    draft.tags = strings(options, "tags");
  return draft;
}

} // namespace reprobe::scan
