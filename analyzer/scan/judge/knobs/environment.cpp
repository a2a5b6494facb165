// Environment variables that libraries read: missing where they are needed, or set to what is not understood.
#include "analyzer/scan/judge/knobs/knob_writes.h"
#include "analyzer/scan/judge/versions.h"

#include <algorithm>

namespace reprobe::scan {

// `knob` is switched on in a program that multiplies matrices and never sets `needs`, up to version `until`.
void judge_environment_needed(const KnobCheck& check) {
  const std::vector<KnobWrite> needed = writes_of(check.context, check.options.at("needs"));
  for (const KnobWrite& write : switched_on(check.context, check.options.at("knob"))) {
    const Applies applies = version_applies(*write.site.in.unit, check.options.value("since", ""),
                                            check.options.value("until", ""));
    if (applies == Applies::no || !may_be_trained_with(check.context, write.site.in.function))
      continue;
    for (const Program* program : check.context.evidence.programs_of(write.site.in.function)) {
      if (!program->uses_cuda || !program->multiplies_matrices || any_in(*program, needed))
        continue;
      Draft draft =
          check.draft_at(write.site, message_of(check.options, {shown_name(*write.site.event), "", ""}));
      if (applies == Applies::unsure)
        draft.confidence = "low";
      check.findings.add(std::move(draft));
    }
  }
}

// `knob`, an environment variable, is set to a value that is none of those that help.
void judge_environment_value(const KnobCheck& check) {
  for (const KnobWrite& write : writes_of(check.context, check.options.at("knob"))) {
    if (write.effect->value)
      continue;
    check.findings.add(check.draft_at(
        write.site,
        message_of(check.options, {write.effect->row->value("environment", ""), "", write.effect->text})));
  }
}

} // namespace reprobe::scan
