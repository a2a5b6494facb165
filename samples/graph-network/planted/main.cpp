// Trains a graph network to tell which community the members of a social network belong to.
#include "community.h"
#include "network.h"

#include <torch/torch.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

struct Options {
  int epochs = 20;
  torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--epochs")
      options.epochs = std::stoi(value);
    else if (name == "--device")
      options.device = torch::Device(value);
    else
      throw std::invalid_argument(name + ": unknown; known are --epochs and --device");
  }
  if (argc % 2 == 0)
    throw std::invalid_argument(std::string(argv[argc - 1]) + ": needs a value");
  return options;
}

Graph to_device(const Graph& graph, torch::Device device) {
  return {graph.interests.to(device), graph.town.to(device), graph.community.to(device),
          graph.edges.to(device), graph.known.to(device)};
}

/// FNV-1a over the bytes of all parameters: equal for two runs only when training was bit-identical.
std::uint64_t hash_parameters(const nn::Module& module) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const auto& parameter : module.parameters()) {
    const auto values = parameter.detach().to(torch::kCPU).contiguous();
    const auto* bytes = static_cast<const unsigned char*>(values.const_data_ptr());
    for (std::size_t i = 0; i < values.nbytes(); ++i)
      hash = (hash ^ bytes[i]) * 0x100000001b3u;
  }
  return hash;
}

void train(const Options& options) {
  const Graph graph = to_device(read_graph(), options.device);
  const auto known_community = graph.community.index_select(0, graph.known);
  Network network(32);
  network->to(options.device);
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(0.01));

  torch::manual_seed(7);
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    network->train();
    optimizer.zero_grad();
    const auto scores = network->forward(graph).index_select(0, graph.known);
    const auto loss = torch::cross_entropy_loss(scores, known_community);
    loss.backward();
    optimizer.step();
    std::printf("epoch %d: loss %.6f\n", epoch, loss.item<double>());
  }

  torch::NoGradGuard no_gradients;
  network->eval();
  const auto right = network->forward(graph).argmax(1).eq(graph.community).to(torch::kFloat32).mean();
  std::printf("accuracy: %.3f\n", right.item<double>());
  std::printf("parameters: %016" PRIx64 "\n", hash_parameters(*network));
}

} // namespace

int main(int argc, char** argv) {
  try {
    train(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "graph-network: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
