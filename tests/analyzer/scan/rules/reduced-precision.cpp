// Precision that is given up in code that trains, and calls that keep it.
#include <torch/torch.h>

void fast() {
  at::globalContext().setAllowTF32CuBLAS(true); // expect: reduced-precision
  at::globalContext().setAllowTF32CuDNN(true); // expect: reduced-precision
  at::globalContext().setFloat32MatmulPrecision("high"); // expect: reduced-precision
  at::globalContext().setFloat32MatmulPrecision("medium"); // expect: reduced-precision
  at::globalContext().setAllowFP16ReductionCuBLAS(true); // expect: reduced-precision
  at::globalContext().setAllowBF16ReductionCuBLAS(true); // expect: reduced-precision
  at::globalContext().setAllowFP16AccumulationCuBLAS(true); // expect: reduced-precision
  at::globalContext().setAllowFP16BF16ReductionMathSDP(true); // expect: reduced-precision
}

// Right.
void exact(const std::string& precision, bool allow) {
  at::globalContext().setAllowTF32CuBLAS(false);
  at::globalContext().setAllowTF32CuDNN(false);
  at::globalContext().setFloat32MatmulPrecision("highest");
  at::globalContext().setFloat32MatmulPrecision(precision);
  at::globalContext().setAllowTF32CuBLAS(allow);
  at::globalContext().setAllowFP16ReductionCuBLAS(false);
  at::globalContext().setAllowBF16ReductionCuBLAS(false);
  at::globalContext().setAllowFP16BF16ReductionMathSDP(false);
  if (at::globalContext().allowTF32CuBLAS()) at::globalContext().setAllowTF32CuBLAS(false);
}

struct Context {
  void setAllowTF32CuBLAS(bool) {}
};

void own_class(Context& context) {
  context.setAllowTF32CuBLAS(true);
}
