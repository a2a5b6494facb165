// What a program, or a project that has none, is about: does it use a GPU, does it train, in which precision.
#pragma once

#include "analyzer/scan/flow/project.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace reprobe::scan {

struct Program {
  FunctionRef main; // none: the project as a whole (a library)
  std::set<const Function*> functions;
  bool uses_cuda = false, trains = false, half_precision = false, is_extension = false;
  bool loads_weights = false, optimizes = false;
  bool partial = false; // part of it could not be parsed
  bool has_convolution = false, has_linear = false, multiplies_matrices = false;
};

class Evidence {
public:
  explicit Evidence(const Codebase&);

  const std::vector<Program>& programs() const { return programs_; }
  const Program& whole() const { return whole_; }
  /// The programs that run the function; the whole project when none does.
  std::vector<const Program*> programs_of(const Function*) const;
  bool may_use_cuda(const Function*) const;
  bool may_train(const Function*) const;
  bool may_be_half(const Function*) const;
  /// A network with convolutions and without a linear layer predicts images, not classes.
  bool predicts_images(const Function*) const;

private:
  std::vector<Program> programs_;
  Program whole_;
};

} // namespace reprobe::scan
