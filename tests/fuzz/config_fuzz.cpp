// `.reprobe.yaml` of hostile repositories: understood or refused with an Error; what is understood can be dumped and
// is understood again, as the same.
#include "analyzer/cli/config_set.h"
#include "rules/error.h"
#include "tests/fuzz/fuzz.h"

void fuzz(std::string_view input) {
  using namespace reprobe;
  const rules::Registry& registry = rules::Registry::builtin();
  const std::filesystem::path file = "/project/.reprobe.yaml", source = "/project/src/a.cpp";
  try {
    const cli::Config config = cli::parse_config(std::string(input), file, registry);
    const cli::EffectiveConfig effective{{&config}};
    cli::customized(registry, effective);
    const std::string text = dump(effective, source, registry, "paper", false);
    cli::Config again;
    try {
      again = cli::parse_config(text, file, registry);
    } catch (const Error&) {
      expect(false);
    }
    const cli::EffectiveConfig twice{{&again}};
    for (const rules::Rule& rule : registry.rules())
      expect(effective.severity(rule, source, "paper", false) == twice.severity(rule, source, "paper", false));
    expect(config.tables.size() == again.tables.size());
  } catch (const Error&) {
  }
}
