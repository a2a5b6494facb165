// The operator on CUDA devices; the kernel itself lies in voxel_pool_kernel.cu.
#include "voxel_pool.h"
#include "voxel_pool_kernel.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

namespace {

at::Tensor pool_cuda(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  const c10::cuda::CUDAGuard device(features.device());
  const auto values = features.contiguous();
  const auto [points, starts] = points_by_voxel(voxel, voxels);
  const auto means = at::zeros({voxels, values.size(1)}, values.options());
  launch_voxel_means(values.const_data_ptr<float>(), points.const_data_ptr<int64_t>(),
                     starts.const_data_ptr<int64_t>(), voxels, values.size(1),
                     means.mutable_data_ptr<float>(), c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return means;
}

} // namespace

TORCH_LIBRARY_IMPL(voxel, CUDA, library) {
  library.impl("pool", pool_cuda);
}
