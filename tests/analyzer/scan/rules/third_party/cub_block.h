// Names of the library's header, so that tests need none.
#pragma once
#include <cstddef>
namespace cub {
enum BlockReduceAlgorithm { BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, BLOCK_REDUCE_RAKING, BLOCK_REDUCE_WARP_REDUCTIONS, BLOCK_REDUCE_WARP_REDUCTIONS_NONDETERMINISTIC };
template <class T, int N, BlockReduceAlgorithm A = BLOCK_REDUCE_WARP_REDUCTIONS> struct BlockReduce {
  T Sum(T);
};
struct DeviceReduce {
  template <class In, class Out, class Environment> static int Sum(In, Out, int, Environment);
};
} // namespace cub
namespace cuda::execution {
namespace determinism {
struct not_guaranteed_t {} inline not_guaranteed;
struct run_to_run_t {} inline run_to_run;
} // namespace determinism
template <class T> struct require_t {};
template <class T> require_t<T> require(T);
} // namespace cuda::execution
