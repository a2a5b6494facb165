// Facts as bytes: damage is refused, or what was read is sound. Facts as JSON survive the way through bytes.
#include "analyzer/scan/facts/facts_binary.h"
#include "rules/error.h"
#include "tests/fuzz/fuzz.h"

void fuzz(std::string_view input) {
  using namespace reprobe::scan;
  if (const auto unit = from_binary(input)) {
    const auto again = from_binary(to_binary(*unit));
    expect(again && to_binary(*again) == to_binary(*unit));
  }
  try {
    const TranslationUnit unit = from_json(std::string(input), "fuzz");
    const auto again = from_binary(to_binary(unit));
    expect(again && to_json(*again) == to_json(unit));
  } catch (const reprobe::Error&) {
  }
}
