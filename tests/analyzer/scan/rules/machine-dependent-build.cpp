// Pragmas that let the compiler fuse; options are tested where build files and commands are read.
#pragma STDC FP_CONTRACT ON // expect: machine-dependent-build

float fused(float a, float b, float c) {
  return a * b + c;
}

// Right.
#pragma STDC FP_CONTRACT OFF

float exact(float a, float b, float c) {
  return a * b + c;
}
