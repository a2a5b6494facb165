#include <algorithm>
#include <string>
#include <vector>

std::vector<std::string> list(const std::string& root);

std::string first(const std::string& root) {
  auto names = list(root);
  std::sort(names.begin(), names.end());
  return names.empty() ? "" : names.front();
}
