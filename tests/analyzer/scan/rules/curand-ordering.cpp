enum curandOrdering_t { CURAND_ORDERING_PSEUDO_BEST = 100, CURAND_ORDERING_PSEUDO_DEFAULT = 101, CURAND_ORDERING_PSEUDO_LEGACY = 103, CURAND_ORDERING_PSEUDO_DYNAMIC = 104 };
extern "C" int curandSetGeneratorOrdering(void*, curandOrdering_t);

void by_gpu(void* generator) {
  curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DYNAMIC); // expect: curand-ordering
  curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_BEST); // expect: curand-ordering
}

// Right.
void fixed(void* generator) {
  curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_LEGACY);
  curandSetGeneratorOrdering(generator, CURAND_ORDERING_PSEUDO_DEFAULT);
}

bool asked(curandOrdering_t given) { return given == CURAND_ORDERING_PSEUDO_DYNAMIC; }
