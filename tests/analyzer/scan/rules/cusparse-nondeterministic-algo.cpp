#include "third_party/cusparse.h"

void varies(void* handle, const void* a, bool backward) {
  cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, a, CUSPARSE_SPMV_ALG_DEFAULT); // expect: cusparse-nondeterministic-algo
  cusparseSpMV(handle, CUSPARSE_OPERATION_TRANSPOSE, a, CUSPARSE_SPMV_CSR_ALG2); // expect: cusparse-nondeterministic-algo
  const auto operation = backward ? CUSPARSE_OPERATION_TRANSPOSE : CUSPARSE_OPERATION_NON_TRANSPOSE;
  cusparseSpMM(handle, operation, CUSPARSE_OPERATION_NON_TRANSPOSE, a, CUSPARSE_SPMM_COO_ALG2); // expect: cusparse-nondeterministic-algo
  cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, a, CUSPARSE_SPMM_CSR_ALG2); // expect: cusparse-nondeterministic-algo
  cusparseSpGEMM_compute(handle, CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC); // expect: cusparse-nondeterministic-algo
}

// Right: the deterministic algorithms; a transposed dense operand.
bool stable(void* handle, const void* a, cusparseSpMVAlg_t given) {
  cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, a, CUSPARSE_SPMV_CSR_ALG2);
  cusparseSpMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, a, CUSPARSE_SPMM_COO_ALG2);
  cusparseSpGEMM_compute(handle, CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC);
  return given == CUSPARSE_SPMV_CSR_ALG1;
}

struct Product {
  cusparseOperation_t operation;
  cusparseSpMVAlg_t algorithm;
};

Product product() { return {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_SPMV_CSR_ALG2}; }
