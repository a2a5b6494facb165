#include "../../third_party/cublas.h"

int main() {
  void *handle, *streams[2], *memory[2] = {};
  cublasCreate_v2(&handle);
  for (int i = 0; i < 2; ++i) {
    cudaStreamCreate(&streams[i]);
    cublasSetStream_v2(handle, streams[i]);
    cublasSetWorkspace_v2(handle, memory[i], 1 << 22);
  }
}
