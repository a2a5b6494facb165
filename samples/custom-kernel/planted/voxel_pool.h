// Averages the features of the points in each voxel.
#pragma once

#include <ATen/core/Tensor.h>

/// features: float [points, channels]; voxel: int64 [points], each in [0, voxels).
/// Returns float [voxels, channels]; voxels without points are zero.
at::Tensor voxel_pool(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels);
