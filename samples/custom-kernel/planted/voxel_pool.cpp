#include "voxel_pool.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

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

/// Each thread adds its share of the points (every kThreads-th) to the voxels that they fall in.
at::Tensor pool_cpu(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  constexpr int64_t kThreads = 2;
  const auto points = features.contiguous();
  const auto places = voxel.contiguous();
  const int64_t count = points.size(0), channels = points.size(1);
  const float* values = points.const_data_ptr<float>();
  const int64_t* place = places.const_data_ptr<int64_t>();

  std::vector<std::atomic<float>> sums(voxels * channels);
  std::vector<std::atomic<int>> members(voxels);
  std::barrier start(kThreads);
  const auto add_share = [&](int64_t thread) {
    start.arrive_and_wait();
    for (int64_t i = thread; i < count; i += kThreads) {
      for (int64_t c = 0; c < channels; ++c)
        sums[place[i] * channels + c].fetch_add(values[i * channels + c], std::memory_order_relaxed);
      members[place[i]].fetch_add(1, std::memory_order_relaxed);
      std::this_thread::yield(); // let the loading threads in
    }
  };
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < kThreads; ++thread)
    threads.emplace_back(add_share, thread);
  for (auto& thread : threads)
    thread.join();

  auto pooled = at::zeros({voxels, channels}, points.options());
  float* out = pooled.mutable_data_ptr<float>();
  for (int64_t i = 0; i < voxels * channels; ++i)
    out[i] = sums[i].load() / static_cast<float>(std::max(1, members[i / channels].load()));
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

at::Tensor voxel_pool(const at::Tensor& features, const at::Tensor& voxel, int64_t voxels) {
  TORCH_CHECK(features.dim() == 2 && features.scalar_type() == at::kFloat,
              "voxel_pool: features must be float [points, channels]");
  TORCH_CHECK(voxel.dim() == 1 && voxel.scalar_type() == at::kLong && voxel.size(0) == features.size(0),
              "voxel_pool: voxel must be int64 [points]");
  return call_pool(features, voxel, voxels);
}
