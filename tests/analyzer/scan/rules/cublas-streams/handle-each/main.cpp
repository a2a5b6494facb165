#include "../../third_party/cublas.h"

int main() {
  void *handles[2], *streams[2];
  for (int i = 0; i < 2; ++i) {
    cublasCreate_v2(&handles[i]);
    cudaStreamCreate(&streams[i]);
    cublasSetStream_v2(handles[i], streams[i]);
  }
}
