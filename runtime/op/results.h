// What a call produced, and how results of re-executions differ from it.
#pragma once

#include "runtime/compare/compare.h"
#include "runtime/op/arguments.h"
#include "runtime/op/journal.h"

#include <set>
#include <utility>

namespace reprobe::op {

/// One tensor (or number) that a call gave back or changed.
struct ResultTensor {
  std::string name;
  at::Tensor tensor; // undefined: no tensor was given back
};

/// Results of a call from what it returned, then the arguments that it changed although no result is them.
std::vector<ResultTensor> results_of(c10::ArrayRef<c10::IValue> outputs,
                                     const std::vector<at::Tensor>& arguments, const SavedCall&);

class ResultComparison {
public:
  /// The program's own results; they must not change while this lives.
  ResultComparison(std::vector<ResultTensor> reference, const std::string& compare_cuda_library);

  /// Compares one round. True when every bit agrees with the reference.
  bool add(const std::vector<ResultTensor>& round);
  std::uint32_t distinct() const { return static_cast<std::uint32_t>(rounds_.size()); }
  /// How many rounds differed from the program's own result.
  std::uint32_t differing_rounds() const { return differing_; }
  std::vector<OutputLine> outputs() const;

private:
  /// Of a result, less the reference's: {0, 0} where every bit agrees.
  using Hash = std::pair<std::uint64_t, std::uint64_t>;
  struct Output {
    ResultTensor reference;
    at::Tensor dense, contiguous; // the reference's elements in memory order, and in index order
    std::uint64_t elements = 0;
    compare::Type type = compare::Type::uint8;
    at::Tensor mask; // one bit an element, made for the first comparison
    at::Tensor workspace;
    bool shape_differs = false;
    compare::Comparison found; // maxima and sums over the rounds
    bool in_memory_order = true; // what first_differing counts
    bool same_values = true;
    std::set<Hash> results;
  };
  Hash compare(Output&, const at::Tensor& result);
  static void gather(Output&, const compare::Comparison&, bool in_memory_order);

  std::vector<Output> outputs_;
  std::set<Hash> rounds_;
  std::uint32_t rounds_compared_ = 0, differing_ = 0;
  const std::string* compare_cuda_library_;
};

/// The cudaStream_t that work on a CUDA tensor's device goes to now.
void* current_stream(c10::Device);
void wait_for(c10::Device);

} // namespace reprobe::op
