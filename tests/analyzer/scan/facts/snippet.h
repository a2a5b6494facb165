// Facts of a few lines of code that exist only in memory, and words to look at them with.
#pragma once

#include "analyzer/scan/driver/toolchain.h"
#include "analyzer/scan/facts/extract.h"

#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace reprobe::scan {

struct Snippet {
  std::vector<std::string> arguments = {"-x", "c++", "-std=c++20"};
  std::map<std::string, std::string> files; // more files, by their path below /code

  TranslationUnit parse(const std::string& code) const {
    ParseRequest request;
    request.directory = "/";
    request.main_file = "/code/main.cpp";
    request.root = "/code";
    request.command = {"clang++",       "-fsyntax-only",
                       "-resource-dir", find_toolchain({}, {}).clang_resources.string(),
                       "-isystem",      "/code/system"};
    request.command.insert(request.command.end(), arguments.begin(), arguments.end());
    request.command.push_back("/code/main.cpp");
    request.virtual_files["/code/main.cpp"] = code;
    for (const auto& [path, text] : files)
      request.virtual_files["/code/" + path] = text;
    return extract(request);
  }
};

inline TranslationUnit parse(const std::string& code) {
  return Snippet().parse(code);
}

inline const Function& function(const TranslationUnit& unit, const std::string& name) {
  for (const Function& function : unit.functions)
    if (function.name == name)
      return function;
  throw std::runtime_error("no function " + name);
}

inline std::vector<const Event*> events(const Function& function, Event::Kind kind,
                                        const std::string& callee = {}) {
  std::vector<const Event*> out;
  for (const Event& event : function.events)
    if (event.kind == kind && (callee.empty() || event.callee == callee))
      out.push_back(&event);
  return out;
}

/// The only such event.
inline const Event& event(const Function& function, Event::Kind kind, const std::string& callee = {}) {
  const auto found = events(function, kind, callee);
  if (found.size() != 1)
    throw std::runtime_error(std::to_string(found.size()) + " events " + callee);
  return *found.front();
}

inline const Event& call(const Function& function, const std::string& callee) {
  return event(function, Event::Kind::call, callee);
}

/// The block that holds the event.
inline const Block& block_of(const Function& function, const Event& event) {
  for (const Block& block : function.blocks)
    for (std::uint32_t each : block.events)
      if (each == event.id)
        return block;
  throw std::runtime_error("event in no block");
}

/// First argument of the only call of `f` in `void test()`.
inline Value argument(const TranslationUnit& unit) {
  return call(function(unit, "test"), "f").arguments.at(0);
}

} // namespace reprobe::scan
