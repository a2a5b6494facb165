// Names of the library's header, so that tests need none.
#pragma once
#include <cstdio>
struct Perf { int algo, status; unsigned long memory; };
extern "C" int cudaMemGetInfo(unsigned long*, unsigned long*);
extern "C" int cudnnGetConvolutionForwardAlgorithm_v7(void*, int, int*, Perf*);
