// Families `consumed-atomics` and `clock-values`: what a kernel stores, or where, comes from the order in
// which threads arrive, or from a clock.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/kernels/kernel.h"

#include <algorithm>
#include <fmt/format.h>

namespace reprobe::scan {
namespace {

using nlohmann::json;

// Functions whose result tells which thread came first.
const json* ticket_row(const Context& context, const Event& event) {
  if (event.kind != Event::Kind::call)
    return nullptr;
  const std::string name = last_part(event.callee);
  for (const json& row : context.registry.table("atomics")) {
    if (row.at("kind") != "ticket")
      continue;
    for (const json& symbol : row.at("symbols"))
      if (symbol == name || (event.receiver && row.contains("members") && symbol == name))
        return &row;
  }
  return nullptr;
}

bool is_ticket(const Context& context, const Visit& visit) {
  if (!visit.event || !ticket_row(context, *visit.event) || visit.event->arguments.empty())
    return false;
  const Event& event = *visit.event;
  const std::string& type = event.receiver ? event.receiver->type : event.arguments[0].type;
  const std::vector<std::string> arguments = template_arguments_of(type);
  return event.receiver ? !arguments.empty() && is_integer_type(arguments[0]) : is_integer_type(type);
}

bool is_comparison(const Value& value) {
  static const std::set<std::string> operators = {"==", "!=", "<", ">", "<=", ">=", "!", "&&", "||"};
  return value.kind == Value::Kind::compound && operators.contains(value.text);
}

// The first such call that flows into the value, not through a comparison; an element is data, whoever drew
// its place.
Site source_of_value(const Context& context, FunctionRef in, const Value& value,
                     const std::function<bool(const Visit&)>& is_source, bool through_elements = true) {
  Site found;
  walk(context.project, in, value, {}, [&](const Visit& visit) {
    const bool element = visit.value->kind == Value::Kind::compound && visit.value->text == "[]";
    if (found || is_comparison(*visit.value) || (element && !through_elements))
      return false;
    if (is_source(visit))
      found = {visit.in, visit.event};
    return !found;
  });
  return found;
}

// Threads of their own counters do not meet.
bool is_contended(const Kernel& kernel, const Site& ticket) {
  if (ticket.in != kernel.ref() || ticket.event->arguments.empty())
    return true;
  const Value& counter = ticket.event->receiver ? *ticket.event->receiver : ticket.event->arguments[0];
  Spread spread = kernel.spread(counter);
  const bool one_each =
      (spread.dimensions & kThreadDimensions) && !spread.memory && !spread.opaque && !spread.unknown;
  return !one_each;
}

// Another value in each thread, whatever ticket it drew: work taken from a queue is stored where it belongs.
bool differs_beside_the_ticket(const Context& context, const Kernel& kernel, const Value& stored) {
  bool differs = false, follows = false;
  walk(context.project, kernel.ref(), stored, {}, [&](const Visit& visit) {
    follows = follows || is_ticket(context, visit);
    const bool index = visit.value->kind == Value::Kind::variable && !visit.value->operands.empty();
    differs = differs || (index && kernel.spread(*visit.value).dimensions != 0);
    return !follows;
  });
  return differs && !follows;
}

void report(const Kernel& kernel, const Site& ticket, const Store& store, const std::string& message,
            Findings& findings) {
  Draft draft;
  draft.site = ticket;
  draft.message = message;
  draft.fix = findings.rule().fix;
  draft.devices = {"cuda"};
  draft.kernels = {kernel.ref().function->name};
  draft.notes.emplace_back(Site{kernel.ref(), store.event}, "here it is used");
  findings.add(std::move(draft));
}

void judge_tickets_of(const Context& context, const Kernel& kernel, Findings& findings) {
  const auto is_source = [&](const Visit& visit) { return is_ticket(context, visit); };
  for (const Store& store : kernel.stores()) {
    if (!store.stored)
      continue;
    if (const Site ticket = source_of_value(context, kernel.ref(), *store.address, is_source);
        ticket && is_contended(kernel, ticket) && differs_beside_the_ticket(context, kernel, *store.stored)) {
      report(kernel, ticket, store,
             fmt::format("the result of {} decides where {} goes, so that the order of what is stored is the "
                         "order in which "
                         "threads arrive",
                         shown_name(*ticket.event),
                         store.stored->source.empty() ? "a value" : "`" + store.stored->source + "`"),
             findings);
      continue;
    }
    if (store.shared)
      continue; // handed to the other threads of the block
    if (const Site ticket = source_of_value(context, kernel.ref(), *store.stored, is_source, false);
        ticket && is_contended(kernel, ticket) && kernel.spread(*store.address).dimensions != 0)
      report(kernel, ticket, store,
             fmt::format("the result of {} is stored: it says in which order threads arrived",
                         shown_name(*ticket.event)),
             findings);
  }
}

bool reads_clock(const Context& context, const Visit& visit) {
  if (!visit.event || visit.event->kind != Event::Kind::call)
    return false;
  if (visit.event->callee != "asm")
    return is_device_function(context, "clock", visit.event->callee) && visit.event->arguments.empty();
  for (const json& row : context.registry.table("device-functions"))
    for (const json& part : row.value("assembly", json::array()))
      if (!visit.event->arguments.empty() &&
          visit.event->arguments[0].text.find(part.get<std::string>()) != std::string::npos)
        return true;
  return false;
}

// How long something took is measured for people.
bool is_duration(const Context& context, FunctionRef in, const Value& stored) {
  bool found = false;
  walk(context.project, in, stored, {.calls = false, .results = false}, [&](const Visit& visit) {
    const Value& value = *visit.value;
    if (value.kind == Value::Kind::compound && value.text == "-" && value.operands.size() == 2) {
      const auto is_source = [&](const Visit& v) { return reads_clock(context, v); };
      found = found || (source_of_value(context, in, value.operands[0], is_source) &&
                        source_of_value(context, in, value.operands[1], is_source));
    }
    return !found;
  });
  return found;
}

void judge_clocks_of(const Context& context, const Kernel& kernel, Findings& findings) {
  const auto is_source = [&](const Visit& visit) { return reads_clock(context, visit); };
  for (const Store& store : kernel.stores())
    for (const Value* value : {store.stored, store.address}) {
      const Site clock = value ? source_of_value(context, kernel.ref(), *value, is_source) : Site{};
      if (!clock || (value == store.stored && is_duration(context, kernel.ref(), *value)))
        continue;
      report(kernel, clock, store,
             "a clock, or the number of the multiprocessor, reaches what the kernel stores: it differs from "
             "run to run",
             findings);
    }
}

template <class Judge>
void for_each_kernel(const Context& context, Judge judge) {
  for (const FunctionRef& ref : context.project.functions())
    if (ref.function->is_kernel)
      judge(Kernel(context, ref));
}

} // namespace

void judge_consumed_atomics(const Context& context, Findings& findings) {
  for_each_kernel(context, [&](const Kernel& kernel) { judge_tickets_of(context, kernel, findings); });
}

void judge_clock_values(const Context& context, Findings& findings) {
  for_each_kernel(context, [&](const Kernel& kernel) { judge_clocks_of(context, kernel, findings); });
}

} // namespace reprobe::scan
