#include <filesystem>
#include <string>
#include <vector>

std::vector<std::string> list(const std::string& root) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(root)) names.push_back(entry.path().string());
  return names;
}
