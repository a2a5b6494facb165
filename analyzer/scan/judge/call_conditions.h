// The conditions that rows of the table `operators` put on a call (`when`, `unless`).
//
// argument-names     any: enumerators or `strings` that occur in what the arguments are made of
// string-argument    any: one argument is this string literal
// boolean-argument   index, value: the argument is this constant
// weights-given      a second operand that is a tensor
// result-is-tuple    the overload that returns several results
// output-size-one    the last argument is 1, or a list or options of ones
// windows-apart      pooling options whose stride is at least the window
// unique-indices     argument: known to hold each index once
// one-index-a-row    argument, dimension: an index with one entry along that dimension, so that none meet
// repeated-indices   argument: known to hold indices more than once
// tensor-value       argument: a tensor rather than a number
// sparse-argument    an argument is sparse
// half-precision     the program uses autocast or a half type
// overlapping-memory the tensor is an expanded view, whose elements share addresses
// dense-prediction   the program's network predicts images, so that targets have two dimensions
// Arguments count from 0 after the object or first tensor.
#pragma once

#include "analyzer/scan/judge/context.h"

namespace reprobe::scan {

struct OperatorCall {
  Site site;
  bool method = false; // the first tensor is the receiver
};

/// The tensor that the operator works on; null for modules.
const Value* first_tensor(const OperatorCall&);
const Value* argument_of(const OperatorCall&, std::size_t index);

bool holds(const Context&, const OperatorCall&, const nlohmann::json& condition);

} // namespace reprobe::scan
