// CUB and Thrust: scans, reductions, sorts, histograms.
#include "measure.h"

#include <algorithm>
#include <cub/cub.cuh>
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>

namespace libraries {

// CUB is asked twice: how much temporary memory, then to work.
template <class Call>
int with_temporary(Call call) {
  std::size_t bytes = 0;
  CHECK(call(nullptr, bytes));
  static void* temporary = nullptr;
  static std::size_t held = 0;
  if (bytes > held) {
    cudaFree(temporary);
    CHECK(cudaMalloc(&temporary, held = bytes));
  }
  return static_cast<int>(call(temporary, bytes));
}

void measure_cub() {
  constexpr int count = 1 << 24;
  Buffer<float> input(wide(count, 1)), output(count);
  const std::vector<Result> all = {{output.get(), output.bytes()}};
  const std::vector<Result> first = {{output.get(), sizeof(float)}};
  measure("CUB-05", "cub::DeviceReduce::Sum, float", first, [&] {
    return with_temporary([&](void* t, std::size_t& n) {
      return cub::DeviceReduce::Sum(t, n, input.get(), output.get(), count);
    });
  });
  measure("CUB-01", "cub::DeviceScan::InclusiveSum, float", all, [&] {
    return with_temporary([&](void* t, std::size_t& n) {
      return cub::DeviceScan::InclusiveSum(t, n, input.get(), output.get(), count);
    });
  });
  measure("CUB-01", "cub::DeviceScan::ExclusiveSum, float", all, [&] {
    return with_temporary([&](void* t, std::size_t& n) {
      return cub::DeviceScan::ExclusiveSum(t, n, input.get(), output.get(), count);
    });
  });
  {
    Buffer<int> integers(indices(count, 1000, 2)), sums(count);
    measure("CUB-01", "cub::DeviceScan::InclusiveSum, int", {{sums.get(), sums.bytes()}}, [&] {
      return with_temporary([&](void* t, std::size_t& n) {
        return cub::DeviceScan::InclusiveSum(t, n, integers.get(), sums.get(), count);
      });
    });
  }
  measure("CUB-03", "thrust::inclusive_scan, float", all, [&] {
    thrust::inclusive_scan(thrust::device, thrust::device_ptr<float>(input.get()),
                           thrust::device_ptr<float>(input.get() + count),
                           thrust::device_ptr<float>(output.get()));
    return 0;
  });
  measure("CUB-05", "thrust::reduce, float", first, [&] {
    const float sum = thrust::reduce(thrust::device, thrust::device_ptr<float>(input.get()),
                                     thrust::device_ptr<float>(input.get() + count));
    return static_cast<int>(cudaMemcpy(output.get(), &sum, sizeof sum, cudaMemcpyHostToDevice));
  });
  for (const int keys : {4, 4096}) {
    const std::string runs_of = std::string(", ") + std::to_string(keys) + " runs";
    std::vector<int> sorted = indices(count, keys, 3);
    std::sort(sorted.begin(), sorted.end());
    Buffer<int> key(sorted), unique(count), runs(1);
    const std::vector<Result> sums = {{output.get(), std::size_t(keys) * sizeof(float)}};
    measure("CUB-05", std::string("cub::DeviceReduce::ReduceByKey, float") + runs_of, sums, [&] {
      return with_temporary([&](void* t, std::size_t& n) {
        return cub::DeviceReduce::ReduceByKey(t, n, key.get(), unique.get(), input.get(), output.get(),
                                              runs.get(), ::cuda::std::plus<>{}, count);
      });
    });
    measure("CUB-05", std::string("thrust::reduce_by_key, float") + runs_of, sums, [&] {
      thrust::reduce_by_key(thrust::device, thrust::device_ptr<int>(key.get()),
                            thrust::device_ptr<int>(key.get() + count),
                            thrust::device_ptr<float>(input.get()), thrust::device_ptr<int>(unique.get()),
                            thrust::device_ptr<float>(output.get()));
      return 0;
    });
    measure("CUB-02", std::string("cub::DeviceScan::InclusiveSumByKey, float") + runs_of, all, [&] {
      return with_temporary([&](void* t, std::size_t& n) {
        return cub::DeviceScan::InclusiveSumByKey(t, n, key.get(), input.get(), output.get(), count);
      });
    });
    std::vector<int> offsets(keys + 1);
    for (int i = 0; i <= keys; ++i)
      offsets[i] = static_cast<int>(static_cast<long long>(count) * i / keys);
    Buffer<int> offset(offsets);
    measure("CUB-05", std::string("cub::DeviceSegmentedReduce::Sum, float") + runs_of, sums, [&] {
      return with_temporary([&](void* t, std::size_t& n) {
        return cub::DeviceSegmentedReduce::Sum(t, n, input.get(), output.get(), keys, offset.get(),
                                               offset.get() + 1);
      });
    });
  }
  {
    Buffer<int> few(indices(count, 4, 4)), payload(indices(count, 1 << 30, 5)), key(count), value(count);
    const std::vector<Result> sorted = {{value.get(), value.bytes()}};
    measure("CUB-08", "cub::DeviceMergeSort::SortPairsCopy, equal keys", sorted, [&] {
      return with_temporary([&](void* t, std::size_t& n) {
        return cub::DeviceMergeSort::SortPairsCopy(t, n, few.get(), payload.get(), key.get(), value.get(),
                                                   count, ::cuda::std::less<>{});
      });
    });
    measure("CUB-08", "cub::DeviceRadixSort::SortPairs, equal keys", sorted, [&] {
      return with_temporary([&](void* t, std::size_t& n) {
        return cub::DeviceRadixSort::SortPairs(t, n, few.get(), key.get(), payload.get(), value.get(), count);
      });
    });
    measure("CUB-08", "thrust::sort_by_key with a comparator, equal keys", sorted, [&] {
      CHECK(cudaMemcpy(key.get(), few.get(), few.bytes(), cudaMemcpyDeviceToDevice));
      CHECK(cudaMemcpy(value.get(), payload.get(), payload.bytes(), cudaMemcpyDeviceToDevice));
      thrust::sort_by_key(thrust::device, thrust::device_ptr<int>(key.get()),
                          thrust::device_ptr<int>(key.get() + count), thrust::device_ptr<int>(value.get()),
                          [] __device__(int a, int b) { return a < b; });
      return 0;
    });
    Buffer<int> kept(1);
    measure("CUB-05", "cub::DeviceSelect::If, order of what is kept", {{value.get(), value.bytes()}}, [&] {
      return with_temporary([&](void* t, std::size_t& n) {
        return cub::DeviceSelect::If(t, n, payload.get(), value.get(), kept.get(), count,
                                     [] __device__(int v) { return v % 3 == 0; });
      });
    });
  }
  {
    Buffer<float> counters(256);
    measure("CUB-09", "cub::DeviceHistogram::HistogramEven, float counters below 2^24",
            {{counters.get(), counters.bytes()}}, [&] {
              return with_temporary([&](void* t, std::size_t& n) {
                return cub::DeviceHistogram::HistogramEven(t, n, input.get(), counters.get(), 257, -4.0f,
                                                           4.0f, count / 4);
              });
            });
  }
}

} // namespace libraries
