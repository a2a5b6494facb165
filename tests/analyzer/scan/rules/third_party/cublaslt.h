// Names of the library's header, so that tests need none.
#pragma once
extern "C" {
int cublasLtMatmulAlgoGetIds(void*, int, int*, int*);
int cublasLtMatmulAlgoGetHeuristic(void*, int, int*, int*);
int cublasLtMatmul(void*, int);
int cudaEventElapsedTime(float*, void*, void*);
int cudaMemGetInfo(unsigned long*, unsigned long*);
}
