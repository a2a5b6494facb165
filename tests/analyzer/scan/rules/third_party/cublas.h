// Names of the library's header, so that tests need none.
#pragma once
extern "C" {
int cublasCreate_v2(void**);
int cublasSetStream_v2(void*, void*);
int cudaStreamCreate(void**);
int cublasSgemm_v2(void*, int);
int cublasSetWorkspace_v2(void*, void*, unsigned long);
}
