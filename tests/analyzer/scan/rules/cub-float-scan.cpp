#include <cstddef>
#include "third_party/cub_scan.h"

void sums(void* temporary, std::size_t bytes, const float* x, float* y, const int* keys, int* unique, int n) {
  cub::DeviceScan::InclusiveSum(temporary, bytes, x, y, n); // expect: cub-float-scan
  cub::DeviceScan::ExclusiveSumByKey(temporary, bytes, keys, x, y, n); // expect: cub-float-scan
  thrust::device_ptr<float> in, out;
  thrust::inclusive_scan(thrust::device, in, in, out); // expect: cub-float-scan
  thrust::reduce_by_key(thrust::device, keys, keys + n, x, unique, y); // expect: cub-float-scan
}

// Right: integers, maxima, the host, reductions of the whole sequence.
float stable(void* temporary, std::size_t bytes, const int* counts, int* offsets, const float* x, float* y, int n) {
  cub::DeviceScan::InclusiveSum(temporary, bytes, counts, offsets, n);
  cub::DeviceScan::InclusiveScan(temporary, bytes, x, y, cub::Max(), n);
  thrust::device_ptr<float> in, out;
  thrust::inclusive_scan(thrust::device, in, in, out, thrust::maximum<float>());
  thrust::inclusive_scan(thrust::host, x, x + n, y);
  cub::DeviceReduce::Sum(temporary, bytes, x, y, n);
  return thrust::reduce(thrust::device, in, in);
}
