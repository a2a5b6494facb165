enum cusolverDeterministicMode_t { CUSOLVER_DETERMINISTIC_RESULTS = 1, CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS = 2 };
extern "C" int cusolverDnSetDeterministicMode(void*, cusolverDeterministicMode_t);
extern "C" int cusolverDnGetDeterministicMode(void*, cusolverDeterministicMode_t*);

void fast(void* handle) {
  cusolverDnSetDeterministicMode(handle, CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS); // expect: cusolver-nondeterministic-mode
}

void right(void* handle) {
  cusolverDnSetDeterministicMode(handle, CUSOLVER_DETERMINISTIC_RESULTS);
}

bool asked(void* handle) {
  cusolverDeterministicMode_t mode;
  cusolverDnGetDeterministicMode(handle, &mode);
  return mode == CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS;
}
