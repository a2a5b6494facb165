#pragma once
namespace cudnn_frontend {
enum class HeurMode_t { A, B };
enum class NumericalNote_t { NONDETERMINISTIC };
struct SDPA_backward_attributes { SDPA_backward_attributes& set_causal_mask(bool); SDPA_backward_attributes& set_deterministic_algorithm(bool); };
namespace graph {
struct Graph {
  int create_execution_plans(HeurMode_t);
  Graph& deselect_numeric_notes(NumericalNote_t);
  int sdpa_backward(int, SDPA_backward_attributes);
  int build_plans();
};
} // namespace graph
} // namespace cudnn_frontend
