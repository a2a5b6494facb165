#include "../../third_party/cudnn_frontend.h"

int main() {
  cudnn_frontend::graph::Graph graph;
  cudnn_frontend::SDPA_backward_attributes attention;
  attention.set_causal_mask(true);
  graph.sdpa_backward(1, attention); // expect: cudnn-plan-unfiltered
  graph.create_execution_plans(cudnn_frontend::HeurMode_t::A); // expect: cudnn-plan-unfiltered
  return graph.build_plans();
}
