// The device's comparison against the CPU's: the same numbers for the same bytes, to the last bit.
#include "runtime/compare/compare.h"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <functional>
#include <random>
#include <vector>

namespace {

using namespace reprobe::compare;
using Bytes = std::vector<unsigned char>;

/// Device memory that starts `shift` bytes off its alignment.
struct OnDevice {
  unsigned char* base = nullptr;
  std::size_t shift;
  explicit OnDevice(const Bytes& bytes, std::size_t shift = 0) : shift(shift) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&base), bytes.size() + shift + 1), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(base + shift, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(base); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  unsigned char* data() const { return base + shift; }
};

Bytes random_bytes(std::size_t count, std::mt19937_64& random) {
  Bytes bytes(count);
  for (auto& byte : bytes)
    byte = static_cast<unsigned char>(random()); // NaNs, infinities and denormals too
  return bytes;
}

class CompareCuda : public testing::TestWithParam<int> {
protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no GPU here";
    void* library = ::dlopen(COMPARE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    compare = reinterpret_cast<reprobe::compare::CompareCuda>(::dlsym(library, kCompareCudaSymbol));
    hash = reinterpret_cast<HashCuda>(::dlsym(library, kHashCudaSymbol));
    ASSERT_NE(compare, nullptr);
    ASSERT_NE(hash, nullptr);
  }

  Type type() const { return static_cast<Type>(GetParam()); }

  /// Compares on both sides twice, the second time without a mask.
  void agree(const Bytes& reference, const Bytes& result, std::size_t shift) {
    const std::uint64_t elements = reference.size() / size_of(type()), words = mask_words(elements);
    std::vector<std::uint32_t> mask(words, 0x80000001u), device_mask(words);
    const OnDevice a(reference, shift), b(result, shift), workspace(Bytes(workspace_bytes(reference.size()))),
        marks(Bytes(reinterpret_cast<unsigned char*>(mask.data()),
                    reinterpret_cast<unsigned char*>(mask.data() + words)));
    const Comparison expected = compare_cpu(reference.data(), result.data(), elements, type(), mask.data());
    for (const bool with_mask : {true, false}) {
      Comparison found;
      ASSERT_EQ(compare(a.data(), b.data(), elements, GetParam(),
                        with_mask ? reinterpret_cast<std::uint32_t*>(marks.data()) : nullptr,
                        workspace.data(), nullptr, &found),
                0);
      EXPECT_EQ(found.hash, expected.hash);
      EXPECT_EQ(found.values, expected.values);
      EXPECT_EQ(found.differing, expected.differing);
      EXPECT_EQ(found.first_differing, expected.first_differing);
      EXPECT_EQ(found.nan_mismatches, expected.nan_mismatches);
      EXPECT_EQ(found.infinity_mismatches, expected.infinity_mismatches);
      for (int bin = 0; bin < kUlpBins; ++bin)
        EXPECT_EQ(found.ulp_histogram[bin], expected.ulp_histogram[bin]) << bin;
      EXPECT_EQ(found.max_ulp, expected.max_ulp);
      EXPECT_EQ(found.max_absolute, expected.max_absolute);
      EXPECT_EQ(found.max_relative, expected.max_relative);
      EXPECT_EQ(found.sum_absolute, expected.sum_absolute);
      EXPECT_EQ(found.sum_variation, expected.sum_variation);
    }
    ASSERT_EQ(cudaMemcpy(device_mask.data(), marks.data(), words * 4, cudaMemcpyDeviceToHost), cudaSuccess);
    EXPECT_EQ(device_mask, mask);
    Hash of_result;
    ASSERT_EQ(hash(b.data(), result.size(), workspace.data(), nullptr, &of_result), 0);
    EXPECT_EQ(of_result, hash_cpu(result.data(), result.size()));
  }

  /// For lengths about a chunk, a row, a tile and more sums than the last step has lanes, aligned and not.
  void agree_everywhere(const std::function<void(Bytes& result, std::mt19937_64&)>& change) {
    std::mt19937_64 random(static_cast<unsigned>(GetParam()) + 1);
    const std::size_t width = size_of(type()), component = width / components_of(type());
    for (const std::size_t bytes : {width, std::size_t(7 * 16), std::size_t(17 * 16 - 16 % (2 * width)),
                                    std::size_t(4096), std::size_t(kTileBytes), std::size_t(1000008)})
      for (const std::size_t shift : {std::size_t(0), component}) {
        const Bytes reference = random_bytes((bytes + width) / width * width, random);
        Bytes result = reference;
        change(result, random);
        SCOPED_TRACE(testing::Message() << bytes << " bytes, shifted by " << shift);
        agree(reference, result, shift);
      }
  }

  reprobe::compare::CompareCuda compare = nullptr;
  HashCuda hash = nullptr;
};

TEST_P(CompareCuda, AgreesWhereNothingDiffers) {
  agree_everywhere([](Bytes&, std::mt19937_64&) {});
}

TEST_P(CompareCuda, AgreesWhereEverythingDiffers) {
  agree_everywhere([](Bytes& result, std::mt19937_64& random) { result = random_bytes(result.size(), random); });
}

TEST_P(CompareCuda, AgreesWhereSomeDiffer) {
  agree_everywhere([](Bytes& result, std::mt19937_64& random) {
    for (std::size_t i = 0; i < result.size(); i += 1 + random() % 97)
      result[i] = static_cast<unsigned char>(random());
  });
}

TEST_P(CompareCuda, AgreesWhereTheLastDiffers) {
  agree_everywhere([](Bytes& result, std::mt19937_64&) { result.back() ^= 1; });
}

TEST_P(CompareCuda, AgreesOverMoreTilesThanTheLastStepHasLanes) {
  std::mt19937_64 random(static_cast<unsigned>(GetParam()) + 100);
  const Bytes reference((kFinalLanes + 5) * kTileBytes + 48, 0x3c); // a number in every type
  Bytes result = reference;
  for (std::size_t i = 0; i < result.size(); i += 1 + random() % 30011)
    result[i] ^= 1;
  agree(reference, result, 0);
}

INSTANTIATE_TEST_SUITE_P(Types, CompareCuda, testing::Range(0, kTypes));

} // namespace
