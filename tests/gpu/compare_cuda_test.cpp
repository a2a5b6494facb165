// The device's comparison against the CPU's: the same numbers for the same bytes, to the last bit.
#include "runtime/compare/compare.h"

#include <gtest/gtest.h>

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <random>
#include <vector>

namespace {

using namespace reprobe::compare;

class CompareCuda : public testing::TestWithParam<Type> {
protected:
  void SetUp() override {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no GPU here";
    void* library = ::dlopen(COMPARE_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << ::dlerror();
    compare = reinterpret_cast<reprobe::compare::CompareCuda>(::dlsym(library, kCompareCudaSymbol));
    equal = reinterpret_cast<EqualCuda>(::dlsym(library, kEqualCudaSymbol));
    ASSERT_NE(compare, nullptr);
    ASSERT_NE(equal, nullptr);
  }
  reprobe::compare::CompareCuda compare = nullptr;
  EqualCuda equal = nullptr;
};

/// Device memory that starts `shift` bytes off its alignment.
struct OnDevice {
  unsigned char* base = nullptr;
  std::size_t shift;
  explicit OnDevice(const std::vector<unsigned char>& bytes, std::size_t shift = 0) : shift(shift) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&base), bytes.size() + shift + 1), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(base + shift, bytes.data(), bytes.size(), cudaMemcpyHostToDevice), cudaSuccess);
  }
  ~OnDevice() { cudaFree(base); }
  unsigned char* data() const { return base + shift; }
};

TEST_P(CompareCuda, AgreesWithTheCpuOnRandomBits) {
  std::mt19937_64 random(static_cast<unsigned>(GetParam()) + 1);
  const std::size_t width = size_of(GetParam());
  for (const std::size_t elements : {1u, 7u, 255u, 4096u, 1000003u})
    for (const std::size_t shift : {std::size_t(0), width}) {
      std::vector<unsigned char> reference(elements * width), result;
      for (auto& byte : reference)
        byte = static_cast<unsigned char>(random()); // NaNs, infinities and denormals too
      result = reference;
      for (std::size_t i = 0; i < result.size(); i += 1 + random() % 97)
        result[i] = static_cast<unsigned char>(random());
      std::vector<std::uint8_t> mask(elements), device_mask(elements);
      const Comparison expected =
          compare_cpu(reference.data(), result.data(), elements, GetParam(), mask.data());
      const OnDevice a(reference, shift), b(result, shift), m(std::vector<unsigned char>(elements, 0));
      Comparison found;
      ASSERT_EQ(
          compare(a.data(), b.data(), elements, static_cast<int>(GetParam()), m.data(), nullptr, &found), 0);
      EXPECT_EQ(found.hash[0], expected.hash[0]);
      EXPECT_EQ(found.hash[1], expected.hash[1]);
      EXPECT_EQ(found.differing, expected.differing);
      EXPECT_EQ(found.nan_mismatches, expected.nan_mismatches);
      EXPECT_EQ(found.max_ulp, expected.max_ulp);
      EXPECT_EQ(found.max_absolute, expected.max_absolute);
      EXPECT_EQ(found.max_relative, expected.max_relative);
      ASSERT_EQ(cudaMemcpy(device_mask.data(), m.data(), elements, cudaMemcpyDeviceToHost), cudaSuccess);
      EXPECT_EQ(device_mask, mask);
      int same = -1;
      ASSERT_EQ(equal(a.data(), b.data(), reference.size(), nullptr, &same), 0);
      EXPECT_EQ(same, reference == result);
      const OnDevice copy(reference);
      ASSERT_EQ(equal(a.data(), copy.data(), reference.size(), nullptr, &same), 0);
      EXPECT_EQ(same, 1);
    }
}

TEST_P(CompareCuda, OneByteIsFoundAnywhere) {
  std::vector<unsigned char> reference(8 * 37, 5);
  const OnDevice a(reference);
  for (std::size_t place = 0; place < reference.size(); ++place) {
    auto other = reference;
    other[place] ^= 1;
    const OnDevice b(other);
    int same = -1;
    ASSERT_EQ(equal(a.data(), b.data(), reference.size(), nullptr, &same), 0);
    EXPECT_EQ(same, 0) << place;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CompareCuda,
                         testing::Values(Type::float64, Type::float32, Type::float16, Type::bfloat16,
                                         Type::int64, Type::int32, Type::int16, Type::int8, Type::uint64,
                                         Type::uint32, Type::uint16, Type::uint8));

} // namespace
