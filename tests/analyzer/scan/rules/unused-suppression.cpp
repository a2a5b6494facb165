// Comments that suppress nothing, beside those that do, that are other tools', or that no list limits.
#include <filesystem>
#include <random>
#include <string>
#include <vector>

unsigned used() {
  return std::mt19937(std::random_device{}())(); // NOLINT(entropy-seed): printed by the caller
}

std::vector<std::string> used_next_line(const std::string& folder) {
  std::vector<std::string> names;
  // NOLINTNEXTLINE(reprobe-directory-order)
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().string());
  return names;
}

std::vector<std::string> used_block(const std::string& folder) {
  std::vector<std::string> names;
  // NOLINTBEGIN(directory-*)
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    names.push_back(entry.path().string());
  // NOLINTEND(directory-*)
  return names;
}

int unused() {
  int seed = 42;            // NOLINT(entropy-seed)                 // expect: unused-suppression
  seed += 1;                // NOLINT(float-atomic, cert-msc50-cpp) // expect: unused-suppression
  seed += 2;                /* NOLINT(reprobe-entropy-*) */         // expect: unused-suppression
  seed += 3;                // NOLINT(reprobe-entropy-sed)          // expect: unused-suppression
  // NOLINTNEXTLINE(seed-after-use): not on this line               // expect: unused-suppression
  return seed;
}

int left_alone() {
  int seed = 1;   // NOLINT
  seed += 1;      // NOLINT(cert-msc50-cpp)
  seed += 2;      // NOLINT(*)
  seed += 3;      // NOLINT(*,-missing-seed)
  seed += 4;      // the word NOLINTED is none, nor is MY_NOLINT(missing-seed)
  const char* text = "// NOLINT(missing-seed)";
  return seed + text[0];
}

// NOLINTBEGIN(entropy-seed) // expect: unused-suppression
// NOLINTEND(missing-seed) // expect: unused-suppression
int unmatched() { return 1; }
// NOLINTEND // expect: unused-suppression
