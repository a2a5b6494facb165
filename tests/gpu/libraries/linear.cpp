// cuBLAS, cuBLASLt, cuSPARSE, cuSOLVER, cuFFT.
#include "measure.h"

#include <algorithm>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cufft.h>
#include <cusolverDn.h>
#include <cusparse.h>

namespace libraries {
namespace {

void measure_cublas() {
  constexpr int n = 4096;
  cublasHandle_t handle;
  CHECK(cublasCreate(&handle));
  Buffer<float> a(wide(std::size_t(n) * n, 1)), x(wide(std::size_t(n) * 64, 2)), y(std::size_t(n) * n);
  const float one = 1, zero = 0;
  const std::vector<Result> vector = {{y.get(), n * sizeof(float)}};
  for (const auto mode : {CUBLAS_ATOMICS_NOT_ALLOWED, CUBLAS_ATOMICS_ALLOWED}) {
    const std::string name = mode == CUBLAS_ATOMICS_ALLOWED ? ", atomics allowed" : ", atomics not allowed";
    CHECK(cublasSetAtomicsMode(handle, mode));
    measure("MATH-02", "cublasSsymv" + name, vector, [&] {
      return int(
          cublasSsymv(handle, CUBLAS_FILL_MODE_LOWER, n, &one, a.get(), n, x.get(), 1, &zero, y.get(), 1));
    });
    measure("MATH-02", "cublasSgemv N" + name, vector, [&] {
      return int(cublasSgemv(handle, CUBLAS_OP_N, n, n, &one, a.get(), n, x.get(), 1, &zero, y.get(), 1));
    });
    measure("MATH-02", "cublasSgemv T" + name, vector, [&] {
      return int(cublasSgemv(handle, CUBLAS_OP_T, n, n, &one, a.get(), n, x.get(), 1, &zero, y.get(), 1));
    });
    measure("MATH-02", "cublasSgemm 64x64x262144" + name, {{y.get(), 64 * 64 * sizeof(float)}}, [&] {
      return int(cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, 64, 64, n * 64, &one, a.get(), n * 64, a.get(),
                             n * 64, &zero, y.get(), 64));
    });
    measure("MATH-02", "cublasSgemm 4096" + name, {{y.get(), y.bytes()}}, [&] {
      return int(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.get(), n, a.get(), n, &zero,
                             y.get(), n));
    });
    measure("MATH-02", "cublasSdot" + name, {{y.get(), sizeof(float)}}, [&] {
      float r = 0;
      const int s = cublasSdot(handle, n * 64, x.get(), 1, a.get(), 1, &r);
      cudaMemcpy(y.get(), &r, sizeof r, cudaMemcpyHostToDevice);
      return s;
    });
  }
  CHECK(cublasDestroy(handle));
}

// Every split of K and reduction scheme that the heuristic offers for a long K.
void measure_cublaslt() {
  constexpr int m = 128, k = 1 << 18;
  cublasLtHandle_t handle;
  CHECK(cublasLtCreate(&handle));
  Buffer<float> a(wide(std::size_t(m) * k, 3)), b(wide(std::size_t(m) * k, 4)), c(m * m);
  Buffer<char> workspace(std::size_t(64) << 20);
  cublasLtMatmulDesc_t operation;
  cublasLtMatrixLayout_t la, lb, lc;
  CHECK(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t transposed = CUBLAS_OP_T;
  CHECK(
      cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed));
  CHECK(cublasLtMatrixLayoutCreate(&la, CUDA_R_32F, k, m, k));
  CHECK(cublasLtMatrixLayoutCreate(&lb, CUDA_R_32F, k, m, k));
  CHECK(cublasLtMatrixLayoutCreate(&lc, CUDA_R_32F, m, m, m));
  cublasLtMatmulPreference_t preference;
  CHECK(cublasLtMatmulPreferenceCreate(&preference));
  const std::size_t bytes = workspace.bytes();
  CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                             sizeof bytes));
  std::vector<cublasLtMatmulHeuristicResult_t> offers(64);
  int found = 0;
  CHECK(cublasLtMatmulAlgoGetHeuristic(handle, operation, la, lb, lc, lc, preference, 64, offers.data(),
                                       &found));
  std::vector<std::pair<int, unsigned>> seen;
  const float one = 1, zero = 0;
  for (int i = 0; i < found; ++i) {
    int split = 0;
    unsigned scheme = 0;
    std::size_t size = 0;
    cublasLtMatmulAlgoConfigGetAttribute(&offers[i].algo, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &split,
                                         sizeof split, &size);
    cublasLtMatmulAlgoConfigGetAttribute(&offers[i].algo, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                         sizeof scheme, &size);
    const std::pair<int, unsigned> kind(split > 1 ? 2 : split, scheme);
    if (std::count(seen.begin(), seen.end(), kind) >= 2)
      continue;
    seen.push_back(kind);
    measure("MATH-05",
            "cublasLtMatmul 128x128x262144, split-K " + std::to_string(split) + ", reduction scheme " +
                std::to_string(scheme) + " (1: in place, 2: compute type, 4: output type)",
            {{c.get(), c.bytes()}}, [&] {
              return int(cublasLtMatmul(handle, operation, &one, a.get(), la, b.get(), lb, &zero, c.get(), lc,
                                        c.get(), lc, &offers[i].algo, workspace.get(), bytes, nullptr));
            });
  }
}

struct Sparse {
  std::vector<int> rows, columns, offsets;
  int entries() const { return static_cast<int>(columns.size()); }
};

// A few rows are long enough to be shared by many blocks. No row names a column twice.
Sparse sparse(int size) {
  Sparse matrix;
  const std::vector<int> start = indices(size, size, 6);
  matrix.offsets.push_back(0);
  for (int row = 0; row < size; ++row) {
    const int length = row % (size / 8) == 7 ? size / 2 : 4 + start[row] % 24;
    const std::size_t first = matrix.columns.size();
    for (int entry = 0; entry < length; ++entry)
      matrix.columns.push_back((start[row] + entry * (size / length)) % size);
    std::sort(matrix.columns.begin() + static_cast<std::ptrdiff_t>(first), matrix.columns.end());
    matrix.rows.insert(matrix.rows.end(), length, row);
    matrix.offsets.push_back(matrix.entries());
  }
  return matrix;
}

void measure_cusparse() {
  constexpr int n = 200000, width = 64;
  cusparseHandle_t handle;
  CHECK(cusparseCreate(&handle));
  const Sparse host = sparse(n);
  const int entries = host.entries();
  Buffer<int> rows(host.rows), columns(host.columns), offsets(host.offsets);
  Buffer<float> values(wide(entries, 9)), x(wide(std::size_t(n) * width, 10)), y(std::size_t(n) * width);
  cusparseSpMatDescr_t csr, coo, csc;
  CHECK(cusparseCreateCsr(&csr, n, n, entries, offsets.get(), columns.get(), values.get(), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  CHECK(cusparseCreateCsc(&csc, n, n, entries, offsets.get(), columns.get(), values.get(), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  CHECK(cusparseCreateCoo(&coo, n, n, entries, rows.get(), columns.get(), values.get(), CUSPARSE_INDEX_32I,
                          CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  cusparseDnVecDescr_t vx, vy;
  CHECK(cusparseCreateDnVec(&vx, n, x.get(), CUDA_R_32F));
  CHECK(cusparseCreateDnVec(&vy, n, y.get(), CUDA_R_32F));
  cusparseDnMatDescr_t mx, my;
  CHECK(cusparseCreateDnMat(&mx, n, width, width, x.get(), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  CHECK(cusparseCreateDnMat(&my, n, width, width, y.get(), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  const float one = 1, zero = 0;
  static Buffer<char> workspace(std::size_t(512) << 20);
  struct Form {
    const char* name;
    cusparseSpMatDescr_t matrix;
  };
  const std::vector<Form> forms = {{"CSR", csr}, {"CSC", csc}, {"COO", coo}};
  const std::vector<std::pair<const char*, cusparseSpMVAlg_t>> vector_algorithms = {
      {"CUSPARSE_SPMV_ALG_DEFAULT", CUSPARSE_SPMV_ALG_DEFAULT},
      {"CUSPARSE_SPMV_CSR_ALG1", CUSPARSE_SPMV_CSR_ALG1},
      {"CUSPARSE_SPMV_CSR_ALG2", CUSPARSE_SPMV_CSR_ALG2},
      {"CUSPARSE_SPMV_COO_ALG1", CUSPARSE_SPMV_COO_ALG1},
      {"CUSPARSE_SPMV_COO_ALG2", CUSPARSE_SPMV_COO_ALG2}};
  const std::vector<std::pair<const char*, cusparseSpMMAlg_t>> matrix_algorithms = {
      {"CUSPARSE_SPMM_ALG_DEFAULT", CUSPARSE_SPMM_ALG_DEFAULT},
      {"CUSPARSE_SPMM_CSR_ALG1", CUSPARSE_SPMM_CSR_ALG1},
      {"CUSPARSE_SPMM_CSR_ALG2", CUSPARSE_SPMM_CSR_ALG2},
      {"CUSPARSE_SPMM_CSR_ALG3", CUSPARSE_SPMM_CSR_ALG3},
      {"CUSPARSE_SPMM_COO_ALG1", CUSPARSE_SPMM_COO_ALG1},
      {"CUSPARSE_SPMM_COO_ALG2", CUSPARSE_SPMM_COO_ALG2},
      {"CUSPARSE_SPMM_COO_ALG3", CUSPARSE_SPMM_COO_ALG3},
      {"CUSPARSE_SPMM_COO_ALG4", CUSPARSE_SPMM_COO_ALG4}};
  const auto fits = [](const std::string& form, const std::string& algorithm) {
    return algorithm.find("DEFAULT") != std::string::npos ||
           algorithm.find(form == "CSC" ? "CSR" : form) != std::string::npos;
  };
  for (const auto& [form, matrix] : forms)
    for (const auto operation : {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE}) {
      const std::string suffix =
          std::string(", ") + form + (operation == CUSPARSE_OPERATION_TRANSPOSE ? ", transposed" : "");
      for (const auto& [name, algorithm] : vector_algorithms)
        if (fits(form, name))
          measure("MATH-09", std::string("cusparseSpMV ") + name + suffix, {{y.get(), n * sizeof(float)}},
                  [&, m = matrix, alg = algorithm] {
                    std::size_t need = 0;
                    if (const int status = cusparseSpMV_bufferSize(handle, operation, &one, m, vx, &zero, vy,
                                                                   CUDA_R_32F, alg, &need))
                      return status;
                    if (need > workspace.bytes())
                      return -1;
                    return int(cusparseSpMV(handle, operation, &one, m, vx, &zero, vy, CUDA_R_32F, alg,
                                            workspace.get()));
                  });
      for (const auto& [name, algorithm] : matrix_algorithms)
        if (fits(form, name))
          measure("MATH-08", std::string("cusparseSpMM ") + name + suffix, {{y.get(), y.bytes()}},
                  [&, m = matrix, alg = algorithm] {
                    std::size_t need = 0;
                    if (const int status =
                            cusparseSpMM_bufferSize(handle, operation, CUSPARSE_OPERATION_NON_TRANSPOSE, &one,
                                                    m, mx, &zero, my, CUDA_R_32F, alg, &need))
                      return status;
                    if (need > workspace.bytes())
                      return -1;
                    return int(cusparseSpMM(handle, operation, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, mx,
                                            &zero, my, CUDA_R_32F, alg, workspace.get()));
                  });
    }
  {
    Buffer<float> products(entries);
    cusparseSpMatDescr_t out;
    CHECK(cusparseCreateCsr(&out, n, n, entries, offsets.get(), columns.get(), products.get(),
                            CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    cusparseDnMatDescr_t mt;
    CHECK(cusparseCreateDnMat(&mt, width, n, n, x.get(), CUDA_R_32F, CUSPARSE_ORDER_ROW));
    measure("MATH-10", "cusparseSDDMM, CSR", {{products.get(), products.bytes()}}, [&] {
      return int(cusparseSDDMM(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE,
                               &one, mx, mt, &zero, out, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT,
                               workspace.get()));
    });
    Buffer<int> places(indices(n, n / 16, 11));
    cusparseSpVecDescr_t scattered;
    CHECK(cusparseCreateSpVec(&scattered, n, n, places.get(), values.get(), CUSPARSE_INDEX_32I,
                              CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    measure("MATH-11", "cusparseScatter, repeated indices", {{y.get(), n * sizeof(float)}},
            [&] { return int(cusparseScatter(handle, scattered, vy)); });
    measure("MATH-11", "cusparseAxpby, repeated indices", {{y.get(), n * sizeof(float)}},
            [&] { return int(cusparseAxpby(handle, &one, scattered, &zero, vy)); });
  }
}

void measure_cusolver() {
  constexpr int n = 1024;
  cusolverDnHandle_t handle;
  CHECK(cusolverDnCreate(&handle));
  std::vector<float> host = wide(std::size_t(n) * n, 12), symmetric = host;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      symmetric[i * n + j] = host[std::min(i, j) * n + std::max(i, j)] / 1024 + (i == j ? 600.0f : 0.0f);
  Buffer<float> general(host), positive(symmetric), work(std::size_t(n) * n), vectors(n), tau(n),
      scratch(std::size_t(64) << 20), left(std::size_t(n) * n), right(std::size_t(n) * n);
  Buffer<int> pivots(n), info(1);
  for (const auto mode : {CUSOLVER_DETERMINISTIC_RESULTS, CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS}) {
    CHECK(cusolverDnSetDeterministicMode(handle, mode));
    const std::string name = mode == CUSOLVER_DETERMINISTIC_RESULTS ? ", deterministic mode"
                                                                    : ", non-deterministic results allowed";
    const std::vector<Result> factors = {{work.get(), work.bytes()}};
    const auto start = [&](const Buffer<float>& from) {
      CHECK(cudaMemcpy(work.get(), from.get(), from.bytes(), cudaMemcpyDeviceToDevice));
    };
    measure("MATH-13", "cusolverDnSgetrf 1024" + name, factors, [&] {
      start(general);
      return int(cusolverDnSgetrf(handle, n, n, work.get(), n, scratch.get(), pivots.get(), info.get()));
    });
    measure("MATH-13", "cusolverDnSgeqrf 1024" + name, factors, [&] {
      start(general);
      return int(cusolverDnSgeqrf(handle, n, n, work.get(), n, tau.get(), scratch.get(), int(scratch.count()),
                                  info.get()));
    });
    measure("MATH-13", "cusolverDnSpotrf 1024" + name, factors, [&] {
      start(positive);
      return int(cusolverDnSpotrf(handle, CUBLAS_FILL_MODE_LOWER, n, work.get(), n, scratch.get(),
                                  int(scratch.count()), info.get()));
    });
    measure("MATH-13", "cusolverDnSsyevd 1024" + name,
            {{work.get(), work.bytes()}, {vectors.get(), vectors.bytes()}}, [&] {
              start(positive);
              return int(cusolverDnSsyevd(handle, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n,
                                          work.get(), n, vectors.get(), scratch.get(), int(scratch.count()),
                                          info.get()));
            });
    measure("MATH-13", "cusolverDnSgesvd 1024" + name,
            {{vectors.get(), vectors.bytes()}, {left.get(), left.bytes()}, {right.get(), right.bytes()}},
            [&] {
              start(general);
              return int(cusolverDnSgesvd(handle, 'A', 'A', n, n, work.get(), n, vectors.get(), left.get(), n,
                                          right.get(), n, scratch.get(), int(scratch.count()), nullptr,
                                          info.get()));
            });
  }
}

void measure_cufft() {
  for (const int size : {1 << 20, 1000003}) {
    Buffer<float> input(wide(std::size_t(size) * 4, 13));
    Buffer<cufftComplex> output(std::size_t(size) * 4);
    cufftHandle plan;
    CHECK(cufftPlan1d(&plan, size, CUFFT_R2C, 1));
    measure("MATH-14", "cufftExecR2C " + std::to_string(size),
            {{output.get(), (size / 2 + 1) * sizeof(cufftComplex)}},
            [&] { return int(cufftExecR2C(plan, input.get(), output.get())); });
    CHECK(cufftDestroy(plan));
  }
}

} // namespace

void measure_linear() {
  measure_cublas();
  measure_cublaslt();
  measure_cusparse();
  measure_cusolver();
  measure_cufft();
}

} // namespace libraries
