// The device half of the comparison: the same numbers as compare_cpu.cpp. Equal chunks cost their reading and a
// vote for every eight loads; only rows of 32 chunks that differ somewhere are taken apart.
#include "runtime/compare/element.h"

#include <cuda_runtime.h>

namespace {

namespace compare = reprobe::compare;
namespace element = reprobe::compare::element;
using compare::Comparison;
using compare::Hash;
using compare::kFinalLanes;
using compare::kLanes;
using compare::Type;
using element::Chunk;

constexpr unsigned kWarp = 0xffffffffu;
constexpr unsigned long long kTileChunks = compare::kTileBytes / sizeof(Chunk);
constexpr int kRows = int(kTileChunks / kLanes); // chunks of one lane in a tile
constexpr int kRowsAtOnce = 4;
constexpr unsigned kTilesOfBlock = 255; // at most: its threads count in 16 bits

struct Sums {
  double absolute, variation;
};

/// At the start of the workspace, zeroed; the sums of the tiles follow.
struct Totals {
  unsigned long long hash[2], values, differing, nan_mismatches, infinity_mismatches;
  unsigned long long first_inverted;                                 // ~index, so that 0 is none
  unsigned long long max_ulp;
  unsigned long long max_absolute, max_relative;                     // non-negative doubles order like their bits
  unsigned long long ulp_histogram[compare::kUlpBins];
  Sums sums;
};
static_assert(sizeof(Totals) <= 1024 && sizeof(Sums) == 16, "as workspace_bytes counts");

__device__ Sums* tile_sums(Totals* totals) {
  return reinterpret_cast<Sums*>(reinterpret_cast<unsigned char*>(totals) + 1024);
}

template <class T>
__device__ T warp_sum(T value) {
  for (int step = 16; step > 0; step /= 2)
    value += __shfl_down_sync(kWarp, value, step);
  return value;
}

__device__ unsigned long long warp_maximum(unsigned long long value) {
  for (int step = 16; step > 0; step /= 2)
    value = element::larger(value, __shfl_down_sync(kWarp, value, step));
  return value;
}

__device__ unsigned long long bits(double value) {
  return static_cast<unsigned long long>(__double_as_longlong(value));
}

/// An operand of `words` words, read by chunks.
template <class Word, bool kAligned>
class Operand {
public:
  __device__ Operand(const void* data, unsigned long long words)
      : data_(static_cast<const Word*>(data)), words_(words) {}

  __device__ Chunk operator[](unsigned long long chunk) const {
    if (kAligned && (chunk + 1) * kPerChunk <= words_) {
      const ulonglong2 both = __ldg(reinterpret_cast<const ulonglong2*>(data_) + chunk);
      return Chunk{both.x, both.y};
    }
    Chunk gathered;
    for (int k = 0; k < kPerChunk; ++k)
      if (chunk * kPerChunk + k < words_) {
        const std::uint64_t word =
            static_cast<std::make_unsigned_t<Word>>(__ldg(data_ + chunk * kPerChunk + k));
        constexpr int per_half = kPerChunk / 2;
        (k < per_half ? gathered.low : gathered.high) |= word << (8 * int(sizeof(Word)) * (k % per_half));
      }
    return gathered;
  }

private:
  static constexpr int kPerChunk = int(sizeof(Chunk) / sizeof(Word));
  const Word* data_;
  unsigned long long words_;
};

/// What a thread has found so far, and the block's memory for it.
template <class Element>
struct Finder {
  using Word = typename Element::Word;
  static constexpr int kPerChunk = int(sizeof(Chunk) / sizeof(Word));
  static constexpr int kElements = kPerChunk / Element::components; // of a chunk

  element::Gathered<Element> gathered;
  Hash hash;
  unsigned differing = 0;
  unsigned long long first = ~0ull;
  double absolute = 0, variation = 0; // of this tile

  /// `counts`: this thread's column of the histogram.
  __device__ void add(Chunk a, Chunk b, unsigned long long chunk, std::uint16_t* counts,
                      std::uint32_t* ever_differs) {
    std::uint32_t found = 0;
    if (a.low != b.low || a.high != b.high) {
      const element::Place place(chunk);
      place.add(b, hash);
      place.remove(a, hash);
#pragma unroll(kPerChunk > 8 ? 4 : kPerChunk)
      for (int k = 0; k < kPerChunk; ++k) {
        const Word x = element::word_of<Word>(a, k), y = element::word_of<Word>(b, k);
        if (x == y)
          continue;
        found |= 1u << k;
        gathered.add(x, y, absolute, variation, [&](int bin) { ++counts[bin * kLanes]; });
      }
      found = element::element_bits<Element>(found);
      if (differing == 0)
        first = chunk * kElements + (__ffs(static_cast<int>(found)) - 1);
      differing += __popc(found);
    }
    if (ever_differs)
      mark(found, chunk, ever_differs);
  }

  __device__ void report(Totals* totals, std::uint16_t (*counts)[kLanes]) const {
    const bool leader = threadIdx.x % 32 == 0;
    const unsigned long long low = warp_sum<unsigned long long>(hash.low),
                             high = warp_sum<unsigned long long>(hash.high),
                             number = warp_sum<unsigned long long>(differing),
                             first_inverted = warp_maximum(~first),
                             nans = warp_sum<unsigned long long>(gathered.nan_mismatches),
                             infinities = warp_sum<unsigned long long>(gathered.infinity_mismatches),
                             values = warp_sum<unsigned long long>(gathered.values),
                             ulp = warp_maximum(gathered.max_ulp),
                             largest = warp_maximum(
                                 bits(element::larger(double(gathered.max_absolute), gathered.rare_absolute))),
                             relative = warp_maximum(
                                 bits(element::larger(double(gathered.max_relative), gathered.rare_relative)));
    if (leader && number) {
      atomicAdd(&totals->hash[0], low);
      atomicAdd(&totals->hash[1], high);
      atomicAdd(&totals->differing, number);
      atomicMax(&totals->first_inverted, first_inverted);
      if (nans)
        atomicAdd(&totals->nan_mismatches, nans);
      if (infinities)
        atomicAdd(&totals->infinity_mismatches, infinities);
      if (Element::index)
        atomicAdd(&totals->values, values);
      atomicMax(&totals->max_ulp, ulp);
      atomicMax(&totals->max_absolute, largest);
      atomicMax(&totals->max_relative, relative);
    }
    if (Element::floating)
      for (int bin = int(threadIdx.x) / 32; bin < Element::bins; bin += kLanes / 32) {
        unsigned sum = 0;
        for (int lane = int(threadIdx.x) % 32; lane < kLanes; lane += 32)
          sum += counts[bin][lane];
        sum = warp_sum(sum);
        if (leader && sum)
          atomicAdd(&totals->ulp_histogram[bin], static_cast<unsigned long long>(sum));
      }
  }

private:
  /// Together by a warp: neighbouring lanes fill a word of the mask.
  __device__ void mark(std::uint32_t found, unsigned long long chunk, std::uint32_t* ever_differs) const {
    constexpr int group = 32 / kElements; // lanes of a word
    const int lane = int(threadIdx.x) % group;
    std::uint32_t word = found << (lane * kElements);
    for (int step = 1; step < group; step *= 2)
      word |= __shfl_xor_sync(kWarp, word, step);
    if (lane == 0 && word)
      atomicOr(ever_differs + chunk * kElements / 32, word);
  }
};

template <class Element, bool kAligned>
__global__ void __launch_bounds__(kLanes)
    compare_kernel(const void* reference_data, const void* result_data, unsigned long long words,
                   std::uint32_t* ever_differs, Totals* totals) {
  using Word = typename Element::Word;
  const Operand<Word, kAligned> reference(reference_data, words), result(result_data, words);
  __shared__ std::uint16_t counts[Element::bins][kLanes];
  __shared__ Sums warp_sums[kLanes / 32];
  const int thread = int(threadIdx.x);
  for (int bin = 0; bin < Element::bins; ++bin)
    counts[bin][thread] = 0;
  Finder<Element> finder;
  constexpr int per_chunk = int(sizeof(Chunk) / sizeof(Word));
  const unsigned long long chunks = (words + per_chunk - 1) / per_chunk;
  const unsigned long long tiles = (chunks + kTileChunks - 1) / kTileChunks;
  for (unsigned long long tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    bool any = false;
    for (int row = 0; row < kRows; row += kRowsAtOnce) {
      const unsigned long long begin = tile * kTileChunks + static_cast<unsigned>(row * kLanes + thread);
      Chunk a[kRowsAtOnce], b[kRowsAtOnce];
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k) {
        const unsigned long long chunk = begin + static_cast<unsigned>(k * kLanes);
        a[k] = chunk < chunks ? reference[chunk] : Chunk{};
        b[k] = chunk < chunks ? result[chunk] : Chunk{};
      }
      unsigned rows = 0;
#pragma unroll
      for (int k = 0; k < kRowsAtOnce; ++k)
        rows |= unsigned(((a[k].low ^ b[k].low) | (a[k].high ^ b[k].high)) != 0) << k;
      if (!__any_sync(kWarp, rows))
        continue;
      any = true;
      // Read again, from the L1 cache: code for one row instead of four.
#pragma unroll 1
      for (int k = 0; k < kRowsAtOnce; ++k) {
        if (!__any_sync(kWarp, rows >> k & 1))
          continue;
        const unsigned long long chunk = begin + static_cast<unsigned>(k * kLanes);
        Chunk x, y;
        if (rows >> k & 1) {
          x = reference[chunk];
          y = result[chunk];
        }
        finder.add(x, y, chunk, &counts[0][thread], ever_differs);
      }
    }
    Sums sum{0, 0};
    if (__syncthreads_or(any)) {
      const Sums of_warp{warp_sum(finder.absolute), warp_sum(finder.variation)};
      finder.absolute = finder.variation = 0;
      if (thread % 32 == 0)
        warp_sums[thread / 32] = of_warp;
      __syncthreads();
      for (int warp = 0; thread == 0 && warp < kLanes / 32; ++warp) {
        sum.absolute += warp_sums[warp].absolute;
        sum.variation += warp_sums[warp].variation;
      }
      __syncthreads();
    }
    if (thread == 0)
      tile_sums(totals)[tile] = sum;
  }
  if (__syncthreads_or(finder.differing != 0))
    finder.report(totals, counts);
}

/// One block of kFinalLanes.
__global__ void sum_kernel(unsigned long long tiles, Totals* totals) {
  if (totals->differing == 0)
    return;
  __shared__ double absolute[kFinalLanes], variation[kFinalLanes];
  const int thread = int(threadIdx.x);
  Sums sum{0, 0};
  for (unsigned long long tile = static_cast<unsigned>(thread); tile < tiles; tile += kFinalLanes) {
    const Sums next = tile_sums(totals)[tile];
    sum.absolute += next.absolute;
    sum.variation += next.variation;
  }
  absolute[thread] = sum.absolute;
  variation[thread] = sum.variation;
  for (int half = kFinalLanes / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) {
      absolute[thread] += absolute[thread + half];
      variation[thread] += variation[thread + half];
    }
  }
  if (thread == 0)
    totals->sums = Sums{absolute[0], variation[0]};
}

template <bool kAligned>
__global__ void __launch_bounds__(kLanes)
    hash_kernel(const unsigned char* data, unsigned long long bytes, Totals* totals) {
  const Operand<std::uint8_t, kAligned> operand(data, bytes);
  const unsigned long long chunks = (bytes + sizeof(Chunk) - 1) / sizeof(Chunk);
  Hash hash;
  for (unsigned long long chunk = static_cast<unsigned long long>(blockIdx.x) * kLanes + threadIdx.x;
       chunk < chunks; chunk += static_cast<unsigned long long>(gridDim.x) * kLanes)
    element::Place(chunk).add(operand[chunk], hash);
  const unsigned long long low = warp_sum<unsigned long long>(hash.low),
                           high = warp_sum<unsigned long long>(hash.high);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&totals->hash[0], low);
    atomicAdd(&totals->hash[1], high);
  }
}

/// Blocks that the device holds at once, but no more than there are tiles.
template <class Kernel>
cudaError_t grid(Kernel kernel, unsigned long long tiles, unsigned* blocks) {
  int device = 0, processors = 0, resident = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, kLanes, 0);
  const auto held = static_cast<unsigned long long>(processors) * static_cast<unsigned>(resident);
  const unsigned long long least = (tiles + kTilesOfBlock - 1) / kTilesOfBlock;
  *blocks = static_cast<unsigned>(element::larger(least, tiles < held ? tiles : held));
  return error;
}

cudaError_t fetch(Totals* to, const Totals* from, cudaStream_t stream) {
  cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess)
    error = cudaMemcpyAsync(to, from, sizeof *to, cudaMemcpyDeviceToHost, stream);
  return error == cudaSuccess ? cudaStreamSynchronize(stream) : error;
}

bool aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(Chunk) == 0;
}

/// Calls f(std::bool_constant<value>).
template <class F>
cudaError_t with_bool(bool value, F&& f) {
  return value ? f(std::true_type{}) : f(std::false_type{});
}

double as_double(unsigned long long value) {
  return element::bits_as<double>(value);
}

} // namespace

extern "C" __attribute__((visibility("default"))) int
reprobe_compare_cuda(const void* reference, const void* result, std::uint64_t elements, int type_number,
                     std::uint32_t* ever_differs, void* workspace, void* stream_handle, Comparison* out) {
  *out = Comparison{};
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  const auto type = static_cast<Type>(type_number);
  const std::uint64_t tiles = compare::tiles_of(elements * compare::size_of(type));
  if (tiles == 0)
    return cudaSuccess;
  auto* totals = static_cast<Totals*>(workspace);
  cudaError_t error = cudaMemsetAsync(totals, 0, sizeof *totals, stream);
  if (error != cudaSuccess)
    return error;
  element::with_type(type, [&](auto element_type) {
    using Element = decltype(element_type);
    error = with_bool(aligned(reference) && aligned(result), [&](auto is_aligned) {
      const auto kernel = compare_kernel<Element, decltype(is_aligned)::value>;
      unsigned blocks = 0;
      const cudaError_t known = grid(kernel, tiles, &blocks);
      if (known == cudaSuccess)
        kernel<<<blocks, kLanes, 0, stream>>>(reference, result, elements * Element::components, ever_differs,
                                              totals);
      return known;
    });
  });
  if (error != cudaSuccess)
    return error;
  sum_kernel<<<1, kFinalLanes, 0, stream>>>(tiles, totals);
  Totals found;
  error = fetch(&found, totals, stream);
  if (error != cudaSuccess || found.differing == 0)
    return error;
  out->hash = Hash{found.hash[0], found.hash[1]};
  out->values = found.values;
  out->differing = found.differing;
  out->first_differing = ~found.first_inverted;
  out->nan_mismatches = found.nan_mismatches;
  out->infinity_mismatches = found.infinity_mismatches;
  for (int bin = 0; bin < compare::kUlpBins; ++bin)
    out->ulp_histogram[bin] = found.ulp_histogram[bin];
  out->max_ulp = double(found.max_ulp);
  out->max_absolute = as_double(found.max_absolute);
  out->max_relative = as_double(found.max_relative);
  out->sum_absolute = found.sums.absolute;
  out->sum_variation = found.sums.variation;
  return error;
}

extern "C" __attribute__((visibility("default"))) int
reprobe_hash_cuda(const void* data, std::uint64_t bytes, void* workspace, void* stream_handle, Hash* out) {
  *out = Hash{bytes, 0};
  const std::uint64_t tiles = compare::tiles_of(bytes);
  if (tiles == 0)
    return cudaSuccess;
  const auto stream = static_cast<cudaStream_t>(stream_handle);
  auto* totals = static_cast<Totals*>(workspace);
  cudaError_t error = cudaMemsetAsync(totals, 0, sizeof *totals, stream);
  if (error == cudaSuccess)
    error = with_bool(aligned(data), [&](auto is_aligned) {
      const auto kernel = hash_kernel<decltype(is_aligned)::value>;
      unsigned blocks = 0;
      const cudaError_t known = grid(kernel, tiles, &blocks);
      if (known == cudaSuccess)
        kernel<<<blocks, kLanes, 0, stream>>>(static_cast<const unsigned char*>(data), bytes, totals);
      return known;
    });
  Totals found;
  if (error == cudaSuccess)
    error = fetch(&found, totals, stream);
  if (error == cudaSuccess)
    *out = Hash{bytes + found.hash[0], found.hash[1]};
  return error;
}
