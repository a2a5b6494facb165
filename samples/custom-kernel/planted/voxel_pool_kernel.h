#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

/// Adds the features [points, channels] up in sums [voxels, channels] and counts the points in members
/// [voxels]; both must be zero before. Pointers are to device memory.
void launch_voxel_sums(const float* features, const std::int64_t* voxel, std::int64_t points,
                       std::int64_t channels, float* sums, int* members, cudaStream_t stream);
