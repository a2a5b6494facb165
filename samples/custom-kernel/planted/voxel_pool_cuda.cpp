// The operator on CUDA devices; the kernel itself lies in voxel_pool_kernel.cu.
#include "voxel_pool_kernel.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <torch/library.h>

namespace {

at::Tensor pool_cuda(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  const c10::cuda::CUDAGuard device(features.device());
  const auto points = features.contiguous();
  const auto places = voxel.contiguous();
  const auto sums = at::zeros({voxels, points.size(1)}, points.options());
  const auto members = at::zeros({voxels}, points.options().dtype(at::kInt));
  launch_voxel_sums(points.const_data_ptr<float>(), places.const_data_ptr<int64_t>(), points.size(0),
                    points.size(1), sums.mutable_data_ptr<float>(), members.mutable_data_ptr<int>(),
                    c10::cuda::getCurrentCUDAStream());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return sums / members.clamp_min(1).to(at::kFloat).unsqueeze(1);
}

} // namespace

TORCH_LIBRARY_IMPL(voxel, CUDA, library) {
  library.impl("pool", pool_cuda);
}
