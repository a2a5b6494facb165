#include "analyzer/scan/driver/device_pass.h"

#include "analyzer/scan/facts/paths.h"
#include "analyzer/scan/driver/whole_files.h"
#include "analyzer/scan/facts/fields.h"

#include <algorithm>
#include <map>

namespace reprobe::scan {
namespace {

bool is_users(const ParseRequest& request, const std::string& path) {
  const auto holds_it = [&](const std::filesystem::path& folder) { return lies_below(path, folder); };
  const auto& others = request.third_party_roots;
  return (lies_below(path, request.root) ||
          std::any_of(request.user_roots.begin(), request.user_roots.end(), holds_it)) &&
         std::none_of(others.begin(), others.end(), holds_it);
}

bool asks_for_device(const ParseRequest& request, const Observations& seen) {
  return std::any_of(seen.files.begin(), seen.files.end(), [&](const auto& file) {
    if (!is_users(request, file.first))
      return false;
    const auto given = request.virtual_files.find(file.first);
    const std::string text =
        given != request.virtual_files.end() ? given->second : read_whole(file.first).value_or("");
    return text.find("__CUDA_ARCH__") != std::string::npos;
  });
}

// Places of one unit in the numbering of another.
class Renumbering {
public:
  Renumbering(TranslationUnit& to, const TranslationUnit& from) {
    std::map<std::string, std::uint32_t> known;
    for (std::size_t i = 0; i < to.files.size(); ++i)
      known.emplace(to.files[i].path, static_cast<std::uint32_t>(i));
    for (const SourceFile& file : from.files) {
      const auto [place, fresh] = known.emplace(file.path, static_cast<std::uint32_t>(to.files.size()));
      if (fresh)
        to.files.push_back(file);
      numbers_.push_back(place->second);
    }
  }
  void apply(Function& function) const {
    for_each_position(function, [&](Position& place) {
      if (place.line != 0 && place.file < numbers_.size())
        place.file = numbers_[place.file];
    });
  }

private:
  std::vector<std::uint32_t> numbers_;
};

} // namespace

void take_device_code(TranslationUnit& host, TranslationUnit device) {
  const Renumbering renumbering(host, device);
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < host.functions.size(); ++i)
    known.emplace(host.functions[i].usr, i);
  for (Function& function : device.functions) {
    if (!function.is_kernel && !function.is_device)
      continue;
    renumbering.apply(function);
    if (const auto same = known.find(function.usr); same != known.end())
      host.functions[same->second] = std::move(function);
    else
      host.functions.push_back(std::move(function));
  }
}

Extraction extract_host_and_device(const ParseRequest& request) {
  Extraction host = extract_observed(request);
  if (host.unit.language != "cuda" || host.unit.status == "failed" || !asks_for_device(request, host.seen))
    return host;
  ParseRequest device = request;
  device.precompiled.clear(); // made for the host
  std::replace(device.command.begin(), device.command.end(), std::string("--cuda-host-only"),
               std::string("--cuda-device-only"));
  Extraction seen = extract_observed(device);
  host.seen.add(std::move(seen.seen));
  if (seen.unit.status != "failed")
    take_device_code(host.unit, std::move(seen.unit));
  return host;
}

} // namespace reprobe::scan
