#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// Averages the features [points, channels] of each voxel's points into means [voxels, channels]. The points
/// of voxel v are point[start[v]] to point[start[v + 1] - 1]. Pointers are to device memory.
void launch_voxel_means(const float* features, const std::int64_t* point, const std::int64_t* start,
                        std::int64_t voxels, std::int64_t channels, float* means, cudaStream_t stream);
