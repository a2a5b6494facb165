// Names of the library's header, so that tests need none.
#pragma once
enum cusparseOperation_t { CUSPARSE_OPERATION_NON_TRANSPOSE = 0, CUSPARSE_OPERATION_TRANSPOSE = 1 };
enum cusparseSpMVAlg_t { CUSPARSE_SPMV_ALG_DEFAULT = 0, CUSPARSE_SPMV_CSR_ALG1 = 2, CUSPARSE_SPMV_CSR_ALG2 = 3 };
enum cusparseSpMMAlg_t { CUSPARSE_SPMM_ALG_DEFAULT = 0, CUSPARSE_SPMM_CSR_ALG2 = 5, CUSPARSE_SPMM_COO_ALG2 = 2 };
enum cusparseSpGEMMAlg_t { CUSPARSE_SPGEMM_CSR_ALG_DETERMINITIC = 1, CUSPARSE_SPGEMM_CSR_ALG_NONDETERMINITIC = 2 };
extern "C" {
int cusparseSpMV(void*, cusparseOperation_t, const void*, cusparseSpMVAlg_t);
int cusparseSpMM(void*, cusparseOperation_t, cusparseOperation_t, const void*, cusparseSpMMAlg_t);
int cusparseSpGEMM_compute(void*, cusparseSpGEMMAlg_t);
}
