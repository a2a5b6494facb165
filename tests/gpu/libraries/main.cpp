// What CUDA's libraries really do: distinct results of 20 identical calls beside changing load, as a Markdown
// table.
#include "measure.h"

namespace libraries {
void measure_kernels();
void measure_cub();
void measure_linear();
void measure_dnn();
} // namespace libraries

int main() {
  cudaDeviceProp properties{};
  CHECK(cudaGetDeviceProperties(&properties, 0));
  int driver = 0, runtime = 0;
  CHECK(cudaDriverGetVersion(&driver));
  CHECK(cudaRuntimeGetVersion(&runtime));
  std::printf(
      "%s, CUDA runtime %d, driver for CUDA %d\n\n| id | call | rounds | distinct |\n|---|---|---|---|\n",
      properties.name, runtime, driver);
  libraries::measure_kernels();
  libraries::measure_cub();
  libraries::measure_linear();
  libraries::measure_dnn();
}
