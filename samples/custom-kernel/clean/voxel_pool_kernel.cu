#include "voxel_pool_kernel.h"

namespace {

/// One thread for each channel of each voxel: no two threads write to one place, and each adds in a fixed
/// order.
__global__ void average_voxels(const float* features, const std::int64_t* point, const std::int64_t* start,
                               std::int64_t voxels, std::int64_t channels, float* means) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= voxels * channels)
    return;
  const std::int64_t voxel = i / channels, channel = i % channels;
  const std::int64_t begin = start[voxel], end = start[voxel + 1];
  float sum = 0;
  for (std::int64_t k = begin; k < end; ++k)
    sum += features[point[k] * channels + channel];
  means[i] = end > begin ? sum / static_cast<float>(end - begin) : 0.0f;
}

} // namespace

void launch_voxel_means(const float* features, const std::int64_t* point, const std::int64_t* start,
                        std::int64_t voxels, std::int64_t channels, float* means, cudaStream_t stream) {
  constexpr int kThreads = 128;
  const std::int64_t blocks = (voxels * channels + kThreads - 1) / kThreads;
  if (blocks == 0)
    return;
  average_voxels<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(features, point, start, voxels,
                                                                         channels, means);
}
