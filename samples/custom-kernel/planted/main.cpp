// Trains a network on point clouds that averages features over voxels with an operator of its own.
#include "network.h"
#include "scene.h"

#include <torch/torch.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

struct Options {
  int epochs = 4;
  int steps = 8; // in one epoch
  torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--epochs")
      options.epochs = std::stoi(value);
    else if (name == "--steps")
      options.steps = std::stoi(value);
    else if (name == "--device")
      options.device = torch::Device(value);
    else
      throw std::invalid_argument(name + ": unknown; known are --epochs, --steps and --device");
  }
  if (argc % 2 == 0)
    throw std::invalid_argument(std::string(argv[argc - 1]) + ": needs a value");
  return options;
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
  at::globalContext().setDeterministicCuDNN(true);
  Network network(16);
  network->to(options.device);
  torch::optim::AdamW optimizer(network->parameters(), torch::optim::AdamWOptions(0.01));

  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    network->train();
    double total = 0;
    for (int step = 0; step < options.steps; ++step) {
      auto batch = make_batch(static_cast<std::uint32_t>(step));
      batch = {batch.positions.to(options.device), batch.voxel.to(options.device),
               batch.shape.to(options.device)};
      optimizer.zero_grad();
      const auto loss = torch::cross_entropy_loss(network->forward(batch), batch.shape);
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    std::printf("epoch %d: loss %.6f\n", epoch, total / options.steps);
  }
  std::printf("parameters: %016" PRIx64 "\n", hash_parameters(*network));
}

} // namespace

int main(int argc, char** argv) {
  try {
    train(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "custom-kernel: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
