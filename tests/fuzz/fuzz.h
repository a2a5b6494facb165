// One fuzz target: `fuzz` gets any bytes and must neither crash nor break its own expectations.
#pragma once

#include <cstdlib>
#include <string_view>

void fuzz(std::string_view input);

inline void expect(bool right) {
  if (!right)
    std::abort();
}
