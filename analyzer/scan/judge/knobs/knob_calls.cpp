// Calls that vary unless the program sets a switch, or calls something else as well.
#include "analyzer/scan/flow/names.h"
#include "analyzer/scan/judge/knobs/knob_writes.h"

#include <algorithm>

namespace reprobe::scan {
namespace {

using nlohmann::json;

// Whether the program calls one of these, named without their class or namespace.
bool calls_one_of(const Program& program, const std::vector<std::string>& names) {
  for (const Function* function : program.functions)
    for (const Event& event : function->events) {
      if (event.kind != Event::Kind::call && event.kind != Event::Kind::construct)
        continue;
      for (const std::string& name : names_of(event))
        if (std::find(names.begin(), names.end(), last_part(name)) != names.end())
          return true;
    }
  return false;
}

bool sets_one_of(const Context& context, const Program& program, const std::vector<std::string>& knobs) {
  return std::any_of(knobs.begin(), knobs.end(),
                     [&](const std::string& knob) { return any_in(program, switched_on(context, knob)); });
}

bool is_taken_care_of(const KnobCheck& check, const Program& program) {
  const std::vector<std::string> only_with = strings(check.options, "only-with");
  return calls_one_of(program, strings(check.options, "unless-called")) ||
         sets_one_of(check.context, program, strings(check.options, "unless-set")) ||
         (!only_with.empty() && !calls_one_of(program, only_with));
}

} // namespace

// `symbols` are called (with `arguments` arguments) in a program that switches none of `unless-set` on, calls
// none of `unless-called`, and calls one of `only-with`. Reported once a program.
void judge_called(const KnobCheck& check) {
  const json rows = json::array({check.options});
  const SymbolIndex index(rows);
  std::set<const Program*> reported;
  for (const FunctionRef& ref : check.context.project.functions())
    for (const Event& event : ref.function->events) {
      const bool named = (event.kind == Event::Kind::call || event.kind == Event::Kind::construct) &&
                         !index.find(event).empty();
      if (!named || (check.options.contains("arguments") &&
                     event.arguments.size() != check.options["arguments"].get<std::size_t>()))
        continue;
      for (const Program* program : check.context.evidence.programs_of(ref.function)) {
        if (is_taken_care_of(check, *program) || !reported.insert(program).second)
          continue;
        check.findings.add(
            check.draft_at({ref, &event}, message_of(check.options, {shown_name(event), "", ""})));
      }
    }
}

} // namespace reprobe::scan
