#include "third_party/cublaslt.h"

int timed(void* lt, void* start, void* stop) {
  int ids[16], found = 0, best = 0;
  float least = 1e9f;
  cublasLtMatmulAlgoGetIds(lt, 16, ids, &found); // expect: cublas-algo-search
  for (int i = 0; i < found; ++i) {
    cublasLtMatmul(lt, ids[i]);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, start, stop);
    if (milliseconds < least) least = milliseconds, best = ids[i];
  }
  return best;
}

int by_free_memory(void* lt) {
  unsigned long free = 0, total = 0;
  int found = 0, algorithm = 0;
  cudaMemGetInfo(&free, &total);
  cublasLtMatmulAlgoGetHeuristic(lt, static_cast<int>(free / 2), &algorithm, &found); // expect: cublas-algo-search
  return algorithm;
}

// Right: the heuristics with a fixed workspace.
int fixed(void* lt) {
  int found = 0, algorithm = 0;
  cublasLtMatmulAlgoGetHeuristic(lt, 32 << 20, &algorithm, &found);
  cublasLtMatmul(lt, algorithm);
  return found;
}
