#include "../../third_party/cublas.h"

int main() {
  void *handle, *stream;
  cublasCreate_v2(&handle);
  cudaStreamCreate(&stream);
  cublasSetStream_v2(handle, stream);
}
