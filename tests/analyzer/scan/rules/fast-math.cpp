// Pragmas that loosen floating-point arithmetic; options are tested where build files and commands are read.
#pragma GCC optimize("fast-math") // expect: fast-math

float sum(const float* x, int n) {
  float total = 0;
  for (int i = 0; i < n; ++i) total += x[i];
  return total;
}

// Right.
#pragma GCC optimize("O3")
#pragma STDC FP_CONTRACT OFF

float product(const float* x, int n) {
  float total = 1;
  for (int i = 0; i < n; ++i) total *= x[i];
  return total;
}
