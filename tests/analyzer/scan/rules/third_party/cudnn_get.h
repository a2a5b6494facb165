// Names of the library's header, so that tests need none.
#pragma once
enum cudnnDeterminism_t { CUDNN_NON_DETERMINISTIC = 0, CUDNN_DETERMINISTIC = 1 };
struct cudnnConvolutionBwdFilterAlgoPerf_t { int algo, status; float time; unsigned long memory; cudnnDeterminism_t determinism; };
struct cudnnConvolutionBwdDataAlgoPerf_t { int algo, status; float time; unsigned long memory; cudnnDeterminism_t determinism; };
struct cudnnConvolutionFwdAlgoPerf_t { int algo, status; float time; unsigned long memory; cudnnDeterminism_t determinism; };
extern "C" {
int cudnnGetConvolutionBackwardFilterAlgorithm_v7(void*, int, int*, cudnnConvolutionBwdFilterAlgoPerf_t*);
int cudnnGetConvolutionBackwardDataAlgorithm_v7(void*, int, int*, cudnnConvolutionBwdDataAlgoPerf_t*);
int cudnnGetConvolutionForwardAlgorithm_v7(void*, int, int*, cudnnConvolutionFwdAlgoPerf_t*);
int cudnnGetConvolutionBackwardFilterAlgorithm(void*, int, int*);
int cudnnGetConvolutionBackwardFilterAlgorithmMaxCount(void*, int*);
}
