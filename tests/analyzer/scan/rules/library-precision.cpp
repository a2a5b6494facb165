enum cublasMath_t { CUBLAS_DEFAULT_MATH = 0, CUBLAS_PEDANTIC_MATH = 2, CUBLAS_TF32_TENSOR_OP_MATH = 3 };
enum cublasComputeType_t { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 };
extern "C" int cublasSetMathMode(void*, cublasMath_t);
extern "C" int cublasGemmEx(void*, cublasComputeType_t);

void fewer_bits(void* handle) {
  cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH); // expect: library-precision
  cublasGemmEx(handle, CUBLAS_COMPUTE_32F_FAST_TF32); // expect: library-precision
}

// Right.
bool full(void* handle, cublasMath_t mode) {
  cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH);
  cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH);
  cublasGemmEx(handle, CUBLAS_COMPUTE_32F);
  return mode == CUBLAS_TF32_TENSOR_OP_MATH;
}
