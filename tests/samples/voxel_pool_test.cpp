// The operator of the custom-kernel sample, on the CPU: right in both versions, repeatable in the clean one
// alone.
#include <voxel_pool.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace {

constexpr int64_t kPoints = 8192, kChannels = 16, kVoxels = 64;

struct Input {
  at::Tensor features, voxel;
};

Input make_input() {
  at::manual_seed(3);
  return {at::randn({kPoints, kChannels}),
          at::randint(kVoxels - 1, {kPoints}, at::kLong)}; // the last one is empty
}

at::Tensor reference(const Input& input) {
  const auto sums =
      at::zeros({kVoxels, kChannels}, at::kDouble).index_add(0, input.voxel, input.features.to(at::kDouble));
  return sums / at::bincount(input.voxel, {}, kVoxels).clamp_min(1).unsqueeze(1);
}

std::string bytes(const at::Tensor& tensor) {
  const auto values = tensor.contiguous();
  return {static_cast<const char*>(values.const_data_ptr()), values.nbytes()};
}

TEST(VoxelPool, AveragesThePointsOfEachVoxel) {
  const auto input = make_input();
  const auto pooled = voxel_pool(input.features, input.voxel, kVoxels);
  EXPECT_TRUE(at::allclose(pooled.to(at::kDouble), reference(input), 1e-5, 1e-6));
  EXPECT_EQ(pooled[kVoxels - 1].count_nonzero().item<int64_t>(), 0);
}

TEST(VoxelPool, SpreadsTheGradientOverThePoints) {
  const auto input = make_input();
  const auto weight = at::randn({kVoxels, kChannels}, at::kDouble);
  auto features = input.features.clone().requires_grad_(true);
  (voxel_pool(features, input.voxel, kVoxels) * weight.to(at::kFloat)).sum().backward();
  auto double_features = input.features.to(at::kDouble).requires_grad_(true);
  (reference({double_features, input.voxel}) * weight).sum().backward();
  EXPECT_TRUE(at::allclose(features.grad().to(at::kDouble), double_features.grad(), 1e-5, 1e-7));
}

TEST(VoxelPool, TakesNoPoints) {
  const auto pooled = voxel_pool(at::zeros({0, 3}), at::zeros({0}, at::kLong), 2);
  EXPECT_TRUE(at::equal(pooled, at::zeros({2, 3})));
}

TEST(VoxelPool, RefusesWrongShapes) {
  EXPECT_ANY_THROW(voxel_pool(at::zeros({4}), at::zeros({4}, at::kLong), 2));
  EXPECT_ANY_THROW(voxel_pool(at::zeros({4, 3}), at::zeros({5}, at::kLong), 2));
}

void expect_repeatable_only_when_clean(const at::Tensor& features, const at::Tensor& voxel) {
  std::set<std::string> results;
  for (int round = 0; round < 20; ++round)
    results.insert(bytes(voxel_pool(features, voxel, kVoxels)));
  if (EXPECT_VARIANCE)
    EXPECT_GE(results.size(), 5u);
  else
    EXPECT_EQ(results.size(), 1u);
}

TEST(VoxelPool, RepeatsBitForBitOnlyWhenClean) {
  const auto input = make_input();
  expect_repeatable_only_when_clean(input.features, input.voxel);
}

// As in a batch, where each scene has voxels of its own: the threads must meet in the same voxels
// nevertheless.
TEST(VoxelPool, RepeatsBitForBitOnlyWhenCleanForSortedVoxels) {
  const auto input = make_input();
  expect_repeatable_only_when_clean(input.features, std::get<0>(input.voxel.sort()));
}

#if !EXPECT_VARIANCE
TEST(VoxelPool, DoesNotDependOnTheNumberOfThreads) {
  const auto input = make_input();
  const auto expected = bytes(voxel_pool(input.features, input.voxel, kVoxels));
  for (const int threads : {1, 2, 3, 7}) {
    at::set_num_threads(threads);
    EXPECT_EQ(bytes(voxel_pool(input.features, input.voxel, kVoxels)), expected) << threads << " threads";
  }
}
#endif

} // namespace
