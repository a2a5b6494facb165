#include "analyzer/scan/facts/facts_files.h"

#include "rules/error.h"

#include <cerrno>
#include <cstring>
#include <fstream>

namespace reprobe::scan {

std::vector<TranslationUnit> read_facts(const std::vector<std::filesystem::path>& files) {
  std::vector<TranslationUnit> units;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);)
      if (++number; !line.empty())
        units.push_back(from_json(line, file.string() + ":" + std::to_string(number)));
    if (in.bad() || !in.eof())
      throw Error("cannot read facts", file.string(), std::strerror(errno), "", 3);
  }
  return units;
}

std::string to_lines(const std::vector<TranslationUnit>& units) {
  std::string text;
  for (const TranslationUnit& unit : units)
    text += to_json(unit) + "\n";
  return text;
}

} // namespace reprobe::scan
