// Right: graphs of the user's own that only share a name. The folder has cuDNN's.
namespace mine {
struct Graph {
  int create_execution_plans(int mode);
  int sdpa_backward(int q);
  int build_plans();
};
} // namespace mine

int own(mine::Graph& graph) {
  graph.create_execution_plans(1);
  graph.sdpa_backward(2);
  return graph.build_plans();
}
