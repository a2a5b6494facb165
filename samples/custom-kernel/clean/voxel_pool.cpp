#include "voxel_pool.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdint>

TORCH_LIBRARY(voxel, library) {
  library.def("pool(Tensor features, Tensor voxel, int voxels) -> Tensor");
}

namespace {

at::Tensor call_pool(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("voxel::pool", "")
                             .typed<at::Tensor(const at::Tensor&, const at::Tensor&, int64_t)>();
  return op.call(features, voxel, voxels);
}

/// Each voxel is summed by one thread, in the order of its points: the number of threads makes no difference.
at::Tensor pool_cpu(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  const auto values = features.contiguous();
  const auto [points, starts] = points_by_voxel(voxel, voxels);
  const int64_t channels = values.size(1);
  auto pooled = at::zeros({voxels, channels}, values.options());
  const float* value = values.const_data_ptr<float>();
  const int64_t* point = points.const_data_ptr<int64_t>();
  const int64_t* start = starts.const_data_ptr<int64_t>();
  float* out = pooled.mutable_data_ptr<float>();

  at::parallel_for(0, voxels, /*grain_size=*/16, [=](int64_t begin, int64_t end) {
    for (int64_t v = begin; v < end; ++v) {
      float* mean = out + v * channels;
      for (int64_t i = start[v]; i < start[v + 1]; ++i)
        for (int64_t c = 0; c < channels; ++c)
          mean[c] += value[point[i] * channels + c];
      for (int64_t c = 0; c < channels; ++c)
        mean[c] /= static_cast<float>(std::max<int64_t>(1, start[v + 1] - start[v]));
    }
  });
  return pooled;
}

class VoxelPool : public torch::autograd::Function<VoxelPool> {
public:
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& features,
                            const at::Tensor& voxel, int64_t voxels) {
    at::AutoDispatchBelowADInplaceOrView below_autograd;
    context->save_for_backward({voxel});
    context->saved_data["voxels"] = voxels;
    return call_pool(features, voxel, voxels);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto voxel = context->get_saved_variables()[0];
    const auto members = at::bincount(voxel, {}, context->saved_data["voxels"].toInt()).clamp_min(1);
    const auto shares = gradients[0] / members.to(gradients[0].scalar_type()).unsqueeze(1);
    return {shares.index_select(0, voxel), at::Tensor(), at::Tensor()};
  }
};

at::Tensor pool_autograd(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  return VoxelPool::apply(features, voxel, voxels);
}

} // namespace

TORCH_LIBRARY_IMPL(voxel, CPU, library) {
  library.impl("pool", pool_cpu);
}
TORCH_LIBRARY_IMPL(voxel, Autograd, library) {
  library.impl("pool", pool_autograd);
}

PointsByVoxel points_by_voxel(const at::Tensor& voxel, int64_t voxels) {
  const auto [sorted, points] = at::sort(voxel, /*stable=*/true, /*dim=*/0, /*descending=*/false);
  return {points, at::searchsorted(sorted, at::arange(voxels + 1, voxel.options()))};
}

at::Tensor voxel_pool(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  TORCH_CHECK(features.dim() == 2 && features.scalar_type() == at::kFloat,
              "voxel_pool: features must be float [points, channels]");
  TORCH_CHECK(voxel.dim() == 1 && voxel.scalar_type() == at::kLong && voxel.size(0) == features.size(0),
              "voxel_pool: voxel must be int64 [points]");
  return call_pool(features, voxel, voxels);
}
