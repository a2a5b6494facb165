#include "third_party/cublas.h"

int main() {
  void* handle;
  void* streams[4];
  cublasCreate_v2(&handle);
  for (auto& stream : streams) cudaStreamCreate(&stream);
  for (auto& stream : streams) {
    cublasSetStream_v2(handle, stream); // expect: cublas-streams
    cublasSgemm_v2(handle, 512);
  }
}
