// Which of a launcher's processes this one is, as the launchers' variables say.
#pragma once

#include <array>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace reprobe::op {

struct Identity {
  std::string rank; // empty: not started by a launcher
  bool of_many = false;
  std::string host;
  long process = 0;
};

inline Identity process_identity() {
  // torchrun and other PyTorch launchers, Open MPI, MPICH and Intel MPI, Slurm. SLURM_NTASKS is set in batch
  // scripts too, which are no rank; the step's is not.
  static constexpr std::array<std::array<const char*, 2>, 4> kLaunchers = {
      {{"RANK", "WORLD_SIZE"},
       {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
       {"PMI_RANK", "PMI_SIZE"},
       {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}}};
  const auto is_number = [](const char* text) {
    return text && *text && std::string(text).find_first_not_of("0123456789") == std::string::npos;
  };
  Identity identity;
  for (const auto& [rank, size] : kLaunchers) {
    const char *number = std::getenv(rank), *count = std::getenv(size);
    if (!is_number(number))
      continue;
    identity.rank = number;
    identity.of_many = is_number(count) && std::strtoull(count, nullptr, 10) > 1;
    break;
  }
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) == 0)
    identity.host = name;
  identity.process = static_cast<long>(::getpid());
  return identity;
}

} // namespace reprobe::op
