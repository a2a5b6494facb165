// Averages the features of the points in each voxel, always in the order of the points.
#pragma once

#include <ATen/core/Tensor.h>

/// features: float [points, channels]; voxel: int64 [points], each in [0, voxels).
/// Returns float [voxels, channels]; voxels without points are zero.
at::Tensor voxel_pool(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels);

/// The points in the order of their voxels; points of one voxel keep their order.
struct PointsByVoxel {
  at::Tensor points; // int64 [points]
  at::Tensor
      starts; // int64 [voxels + 1]: those of voxel v are points[starts[v]] to points[starts[v + 1] - 1]
};
PointsByVoxel points_by_voxel(const at::Tensor& voxel, int64_t voxels);
