#include "analyzer/scan/flow/effects.h"

#include <algorithm>
#include <memory>
#include <optional>

namespace reprobe::scan {
namespace {

using nlohmann::json;

json rows_with_role(const json& table, std::initializer_list<std::string_view> roles) {
  json rows = json::array();
  for (const json& row : table)
    if (std::find(roles.begin(), roles.end(), row.value("role", "")) != roles.end())
      rows.push_back(row);
  return rows;
}

bool is_null_holder(const Event& event) {
  return event.kind == Event::Kind::construct && event.arguments.size() == 1 &&
         event.arguments[0].kind == Value::Kind::null;
}

Event as_construction_of(const std::string& type) {
  Event event;
  event.kind = Event::Kind::construct;
  event.result_type = type;
  event.external = true;
  return event;
}

bool has_argument_of_type(const Event& event, const json& parts) {
  for (const Value& argument : event.arguments)
    for (const json& part : parts)
      if (argument.type.find(part.get<std::string>()) != std::string::npos)
        return true;
  return false;
}

// make_data_loader without a sampler takes RandomSampler; what a sampler object draws is its constructor's matter, also
// where its type is not known.
bool samples_randomly(const Event& event) {
  bool named = false, random = false;
  const auto look = [&](const std::string& type) {
    const std::string name = plain_name(type);
    if (name.find("Sampler") == std::string::npos)
      return;
    named = true;
    random |= last_part(name) == "RandomSampler";
  };
  for (const std::string& argument : event.template_arguments)
    look(argument);
  for (const Value& argument : event.arguments)
    look(argument.type);
  return named ? random : event.arguments.size() < 3;
}

bool is_listed(const json& values, const std::string& value) {
  return std::any_of(values.begin(), values.end(), [&](const json& listed) { return listed == value; });
}

// The literal, also inside `const_cast<char*>("…")`.
const std::string* literal(const Event& event, std::size_t index) {
  if (index >= event.arguments.size())
    return nullptr;
  const Value* value = &event.arguments[index];
  while (value->kind == Value::Kind::compound && value->text == "cast" && value->operands.size() == 1)
    value = &value->operands[0];
  return value->kind == Value::Kind::string ? &value->text : nullptr;
}

// `setenv("NAME", "value", 1)` and `putenv("NAME=value")`.
std::optional<std::string> environment_value(const Event& event, const std::string& name) {
  const std::string *text = literal(event, 0), *value = literal(event, 1);
  if (!text)
    return std::nullopt;
  const std::string& first = *text;
  if (first == name && value)
    return *value;
  if (first.rfind(name + "=", 0) == 0)
    return first.substr(name.size() + 1);
  return std::nullopt;
}

} // namespace

Truth written_value(const Function& function, const Effect& effect, const Constants& constants) {
  if (!effect.argument)
    return Truth::of(effect.value);
  if (!effect.row || !effect.row->contains("on-values"))
    return truth_of(function, *effect.argument, constants);
  switch (effect.argument->kind) {
  case Value::Kind::string:
    return Truth::of(is_listed(effect.row->at("on-values"), effect.argument->text));
  case Value::Kind::enumerator:
    return Truth::of(is_listed(effect.row->at("on-values"), last_part(effect.argument->text)));
  default:
    return Truth::unknown();
  }
}

Effects::Effects(const Codebase& project, const rules::Registry& registry)
    : knobs_(registry.table("knobs")), generators_(registry.table("generators")),
      entropy_types_(registry.table("generators"), {"types"}) {
  engine_rows_ = std::make_unique<json>(rows_with_role(registry.table("generators"), {"engine"}));
  engines_ = SymbolIndex(*engine_rows_, {"types"});
  for (const FunctionRef& ref : project.functions())
    for (const Event& event : ref.function->events)
      find_effects(ref, event);
}

const std::vector<Effect>& Effects::of(const Event* event) const {
  static const std::vector<Effect> none;
  const auto found = effects_.find(event);
  return found == effects_.end() ? none : found->second;
}

void Effects::find_effects(FunctionRef, const Event& event) {
  if (event.kind != Event::Kind::call && event.kind != Event::Kind::construct)
    return;
  for (const SymbolIndex::Match& match : knobs_.find(event))
    add_knob_effect(event, match);
  if (is_null_holder(event))
    return;
  for (const SymbolIndex::Match& match : generators_.find(event))
    add_generator_effect(event, match);
  add_engine_effects(event);
}

void Effects::add_knob_effect(const Event& event, const SymbolIndex::Match& match) {
  const json& row = *match.row;
  Effect effect;
  effect.kind = row.value("guard", false) ? Effect::Kind::guard : Effect::Kind::write_knob;
  effect.name = row.at("knob").get<std::string>();
  effect.value = row.value("value", false);
  effect.once = row.value("once", false);
  effect.by_name = match.by_name;
  effect.row = &row;
  if (row.contains("environment")) {
    const std::optional<std::string> set_to = environment_value(event, row["environment"].get<std::string>());
    if (!set_to)
      return;
    effect.text = *set_to;
    effect.value = is_listed(row["on-values"], *set_to);
  }
  if (row.contains("argument")) {
    const std::size_t argument = row["argument"].get<std::size_t>();
    if (argument >= event.arguments.size())
      return;
    effect.argument = &event.arguments[argument];
  }
  effects_[&event].push_back(std::move(effect));
}

void Effects::add_generator_effect(const Event& event, const SymbolIndex::Match& match) {
  const json& row = *match.row;
  const std::string role = row.value("role", "");
  Effect effect;
  effect.name = row.value("generator", "");
  effect.by_name = match.by_name;
  effect.row = &row;
  effect.layer = row.value("layers", false);
  if (role == "seeds") {
    effect.kind = Effect::Kind::seed;
    const std::size_t argument = row.value("argument", std::size_t{0});
    if (argument >= event.arguments.size())
      return;
    effect.argument = &event.arguments[argument];
  } else if (role == "draws" || role == "draws-later") {
    effect.kind = role == "draws" ? Effect::Kind::draw : Effect::Kind::draw_later;
    if (row.contains("unless-argument-type") && has_argument_of_type(event, row["unless-argument-type"]))
      return;
    if (row.value("default-sampler", false) && !samples_randomly(event))
      return;
  } else {
    return;
  }
  effects_[&event].push_back(std::move(effect));
}

void Effects::add_engine_effects(const Event& event) {
  Effect effect;
  effect.kind = Effect::Kind::seed;
  effect.name = "standard-library";
  if (event.kind == Event::Kind::construct) {
    if (event.arguments.empty() || !is_engine(event.result_type))
      return;
    effects_[&event].push_back(std::move(effect));
  } else if (event.receiver && last_part(event.callee) == "seed" && !event.arguments.empty() &&
             is_engine(event.receiver->type)) {
    effects_[&event].push_back(std::move(effect));
  }
}

const json* Effects::entropy(const Event& event) const {
  for (const SymbolIndex::Match& match : generators_.find(event))
    if (match.row->value("role", "") == "entropy" && !match.by_name)
      return match.row;
  return nullptr;
}

const json* Effects::entropy_type(const std::string& type) const {
  for (const SymbolIndex::Match& match : entropy_types_.find(as_construction_of(type)))
    if (match.row->value("role", "") == "entropy")
      return match.row;
  return nullptr;
}

bool Effects::is_engine(const std::string& type) const {
  return !type.empty() && !engines_.find(as_construction_of(type)).empty();
}

} // namespace reprobe::scan
