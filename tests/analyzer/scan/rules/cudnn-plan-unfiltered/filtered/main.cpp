#include "../../third_party/cudnn_frontend.h"

int main() {
  cudnn_frontend::graph::Graph graph;
  cudnn_frontend::SDPA_backward_attributes attention;
  attention.set_causal_mask(true).set_deterministic_algorithm(true);
  graph.sdpa_backward(1, attention);
  graph.create_execution_plans(cudnn_frontend::HeurMode_t::A);
  graph.deselect_numeric_notes(cudnn_frontend::NumericalNote_t::NONDETERMINISTIC);
  return graph.build_plans();
}
