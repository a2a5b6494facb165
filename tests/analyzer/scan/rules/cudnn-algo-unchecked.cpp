#include "third_party/cudnn_get.h"

int fastest(void* handle) {
  cudnnConvolutionBwdFilterAlgoPerf_t results[8];
  int count = 0;
  cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, 8, &count, results); // expect: cudnn-algo-unchecked
  return results[0].algo;
}

int fastest_that_fits(void* handle, unsigned long limit) {
  cudnnConvolutionBwdDataAlgoPerf_t results[8];
  int count = 0, best = -1;
  cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, 8, &count, &results[0]); // expect: cudnn-algo-unchecked
  for (int i = 0; i < count; ++i)
    if (results[i].status == 0 && results[i].memory < limit && best < 0) best = results[i].algo;
  return best;
}

int preferred(void* handle) {
  int algorithm = 0;
  cudnnGetConvolutionBackwardFilterAlgorithm(handle, 1, &algorithm); // expect: cudnn-algo-unchecked
  return algorithm;
}

// Right: the field is read, here or in a helper; forward algorithms are all deterministic.
int checked(void* handle) {
  cudnnConvolutionBwdFilterAlgoPerf_t results[8];
  int count = 0;
  cudnnGetConvolutionBackwardFilterAlgorithm_v7(handle, 8, &count, results);
  for (int i = 0; i < count; ++i)
    if (results[i].determinism == CUDNN_DETERMINISTIC) return results[i].algo;
  return -1;
}

bool acceptable(const cudnnConvolutionBwdDataAlgoPerf_t& result) { return result.determinism == CUDNN_DETERMINISTIC && result.status == 0; }

int checked_in_a_helper(void* handle) {
  cudnnConvolutionBwdDataAlgoPerf_t results[8];
  int count = 0;
  cudnnGetConvolutionBackwardDataAlgorithm_v7(handle, 8, &count, results);
  for (int i = 0; i < count; ++i)
    if (acceptable(results[i])) return results[i].algo;
  return -1;
}

int forward(void* handle) {
  cudnnConvolutionFwdAlgoPerf_t results[8];
  int count = 0;
  cudnnGetConvolutionForwardAlgorithm_v7(handle, 8, &count, results);
  return results[0].algo;
}

int only_how_many(void* handle) {
  int count = 0;
  cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(handle, &count);
  return count;
}
