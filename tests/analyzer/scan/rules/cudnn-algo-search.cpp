#include "third_party/cudnn_find.h"

int timed(void* handle, void* workspace) {
  Perf results[8];
  int count = 0;
  cudnnFindConvolutionForwardAlgorithm(handle, 8, &count, results); // expect: cudnn-algo-search
  cudnnFindConvolutionBackwardDataAlgorithm(handle, 8, &count, results); // expect: cudnn-algo-search
  cudnnFindConvolutionBackwardFilterAlgorithmEx(handle, 8, &count, results, workspace, 1 << 20); // expect: cudnn-algo-search
  return results[0].algo;
}

// Deterministic ones only, but still the fastest of this run.
int timed_and_filtered(void* handle) {
  Perf results[8];
  int count = 0;
  cudnnFindConvolutionBackwardDataAlgorithm(handle, 8, &count, results); // expect: cudnn-algo-search
  for (int i = 0; i < count; ++i)
    if (results[i].determinism == CUDNN_DETERMINISTIC) return results[i].algo;
  return -1;
}

// Right: heuristics, a named algorithm, a function of the user's own.
int cudnnFindSomething(int layer) { return layer; }

int right(void* handle) {
  Perf results[8];
  int count = 0;
  cudnnGetConvolutionForwardAlgorithm_v7(handle, 8, &count, results);
  cudnnConvolutionForward(handle, 1);
  return cudnnFindSomething(count);
}

namespace mine {
int cudnnFindConvolutionForwardAlgorithm(void*) { return 1; }
} // namespace mine

int own(void* handle) { return mine::cudnnFindConvolutionForwardAlgorithm(handle); }
