#include "voxel_pool_kernel.h"

namespace {

/// One thread for each feature of each point.
__global__ void add_to_voxels(const float* features, const std::int64_t* voxel, std::int64_t points,
                              std::int64_t channels, float* sums, int* members) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= points * channels)
    return;
  const std::int64_t point = i / channels, channel = i % channels;
  atomicAdd(&sums[voxel[point] * channels + channel], features[i]);
  if (channel == 0)
    atomicAdd(&members[voxel[point]], 1);
}

} // namespace

void launch_voxel_sums(const float* features, const std::int64_t* voxel, std::int64_t points,
                       std::int64_t channels, float* sums, int* members, cudaStream_t stream) {
  constexpr int kThreads = 256;
  const std::int64_t blocks = (points * channels + kThreads - 1) / kThreads;
  if (blocks == 0)
    return;
  add_to_voxels<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(features, voxel, points, channels,
                                                                        sums, members);
}
