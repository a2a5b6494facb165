// Facts as JSON, from other machines: what is accepted is sound and survives a round.
#include "analyzer/scan/facts/facts.h"
#include "rules/error.h"
#include "tests/fuzz/fuzz.h"

void fuzz(std::string_view input) {
  try {
    const reprobe::scan::TranslationUnit unit = reprobe::scan::from_json(std::string(input), "fuzz");
    const std::string once = to_json(unit);
    expect(to_json(reprobe::scan::from_json(once, "fuzz")) == once);
  } catch (const reprobe::Error&) {
  }
}
