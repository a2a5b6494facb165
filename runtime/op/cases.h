// Saved cases: one call with everything that a re-execution elsewhere needs, as a "reprobe-case/1" file
// (case_file.h). Its header:
//
//   operator, overload, schema_text   of the dispatcher; schema_text is for readers
//   signature, direction, backward_node, path, device   as in the measurements
//   source                         file, line, function; set by the launcher, which has the line tables
//   arguments                      one a schema argument: {"none": true}, {"bool"|"int"|"double"|"string"|"device": V},
//                                  {"complex": [re, im]}, {"ints"|"doubles"|"bools": [V…]}, {"list": [values…]},
//                                  {"tensor": I}, {"tensors": [I…]}, {"optional_tensors": [I or null…]},
//                                  {"generator": {"device", "state": stretch}}
//   tensors                        name, storage (null: undefined), dtype, sizes, strides, offset (elements),
//                                  requires_grad, wrapped_number, conjugate, negative, same_as
//   storages                       device, bytes (whole), begin, alignment, changed, data: stretch
//   generators                     default generators: device, state: stretch before the call, drawn
//   flags                          flags.h
//   already_cast                   autocast was on around the call and off in it: an enclosing operator had cast the arguments for autocast
//   result_hash                    hash_of the program's own results
//   machine                        libtorch, device_name
//   program                        executable, arguments, registers_operator
#pragma once

#include "runtime/op/case_file.h"
#include "runtime/op/examine.h"

namespace reprobe::op {

/// After an examination, when the run saves cases. Never throws: what is in the way becomes a remark.
void save_case(const CallContext&, const std::vector<GeneratorState>& drawn,
               const std::vector<ResultTensor>& program_results, bool varies);

struct LoadedCase {
  nlohmann::json header;
  const Operator* op = nullptr;
  std::unique_ptr<SavedCall> call;
  std::vector<GeneratorState> drawn;
};

/// Device of a case, before LibTorch is asked for anything: CUDA may have to be loaded first.
bool needs_cuda(const nlohmann::json& header);
/// Where the call worked: its arguments may all be on the CPU, as those of `rand` and of a copy to the device.
c10::Device working_device(const SavedCall&, const std::vector<ResultTensor>& results);
/// Throws NotExamined and FileProblem.
LoadedCase load_case(CaseFile, std::uint64_t memory_limit);

/// "NVIDIA H200" or the CPU's vector instructions.
std::string device_name(c10::Device);
c10::ScalarType dtype_of(const std::string& name); // throws FileProblem

} // namespace reprobe::op
