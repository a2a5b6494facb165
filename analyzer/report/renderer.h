// Findings in the formats that people and services read: one renderer a file, all behind one interface.
#pragma once

#include "analyzer/report/findings.h"
#include "rules/registry.h"

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace reprobe::report {

struct RenderInput {
  const Findings& findings;
  const rules::Registry& registry;
  std::string version{};  // of reprobe
  std::string category{}; // tells runs apart where a service keeps several: SARIF's automationDetails
  bool color = false;     // text only
  bool partial_is_failure = false; // files examined only in part count as failed
};

using Renderer = std::string (*)(const RenderInput&);

struct Format {
  std::string_view name;      // as --format takes it
  std::string_view extension; // of files that are in this format unless said otherwise; empty: none
  std::string_view description;
  Renderer render;
};

std::span<const Format> formats();
const Format* find_format(std::string_view name);
/// By the file's extension; null when it says nothing.
const Format* format_of(const std::filesystem::path& file);

std::string render_findings_text(const RenderInput&); // clang's diagnostic form
std::string render_findings_json(const RenderInput&);
std::string render_sarif(const RenderInput&);
std::string render_github(const RenderInput&); // workflow commands: annotations of a pull request
std::string render_gitlab(const RenderInput&); // code quality report
std::string render_junit(const RenderInput&);

} // namespace reprobe::report
