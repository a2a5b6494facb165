// Names of the library's header, so that tests need none.
#pragma once
enum cudnnDeterminism_t { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 };
struct Perf { int algo, status; float time; cudnnDeterminism_t determinism; };
extern "C" {
int cudnnFindConvolutionForwardAlgorithm(void*, int, int*, Perf*);
int cudnnFindConvolutionBackwardDataAlgorithm(void*, int, int*, Perf*);
int cudnnFindConvolutionBackwardFilterAlgorithmEx(void*, int, int*, Perf*, void*, unsigned long);
int cudnnGetConvolutionForwardAlgorithm_v7(void*, int, int*, Perf*);
int cudnnConvolutionForward(void*, int);
}
