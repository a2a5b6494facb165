enum cublasAtomicsMode_t { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 };
extern "C" int cublasSetAtomicsMode(void*, cublasAtomicsMode_t);
extern "C" int cublasGetAtomicsMode(void*, cublasAtomicsMode_t*);

void allowed(void* handle, bool fast) {
  cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_ALLOWED); // expect: cublas-atomics
  cublasAtomicsMode_t mode = fast ? CUBLAS_ATOMICS_ALLOWED : CUBLAS_ATOMICS_NOT_ALLOWED; // expect: cublas-atomics
  cublasSetAtomicsMode(handle, mode);
}

bool right(void* handle) {
  cublasSetAtomicsMode(handle, CUBLAS_ATOMICS_NOT_ALLOWED);
  cublasAtomicsMode_t mode;
  cublasGetAtomicsMode(handle, &mode);
  return mode == CUBLAS_ATOMICS_ALLOWED;
}
