// Trains a small image classifier on a folder of images, with mixed precision.
#include "image_folder.h"
#include "network.h"

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace {

struct Options {
  std::string data = "images";
  int epochs = 3;
  torch::Device device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--data")
      options.data = value;
    else if (name == "--epochs")
      options.epochs = std::stoi(value);
    else if (name == "--device")
      options.device = torch::Device(value);
    else
      throw std::invalid_argument(name + ": unknown; known are --data, --epochs and --device");
  }
  if (argc % 2 == 0)
    throw std::invalid_argument(std::string(argv[argc - 1]) + ": needs a value");
  return options;
}

/// Mixed precision (bfloat16) while it lives.
class Autocast {
public:
  explicit Autocast(torch::DeviceType device)
      : device_(device), enabled_(at::autocast::is_autocast_enabled(device)),
        type_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device_, true);
    at::autocast::set_autocast_dtype(device_, torch::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0)
      at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(device_, type_);
    at::autocast::set_autocast_enabled(device_, enabled_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

private:
  torch::DeviceType device_;
  bool enabled_;
  torch::ScalarType type_;
};

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
  torch::manual_seed(42);
  at::globalContext().setDeterministicCuDNN(true);
  at::globalContext().setDeterministicAlgorithms(true, true);
  at::globalContext().setBenchmarkCuDNN(true); // all images have one size: worth tuning

  write_example_images(options.data, 128);
  auto dataset = ImageFolder(options.data).map(torch::data::transforms::Stack<>());
  auto loader = torch::data::make_data_loader(
      std::move(dataset), torch::data::DataLoaderOptions().batch_size(16).drop_last(true));
  Network network(16, kClasses);
  network->to(options.device);
  torch::optim::SGD optimizer(network->parameters(), torch::optim::SGDOptions(0.05).momentum(0.9));

  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    network->train();
    double total = 0;
    int steps = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      torch::Tensor scores;
      {
        Autocast mixed_precision(options.device.type());
        scores = network->forward(batch.data.to(options.device));
      }
      auto loss = torch::cross_entropy_loss(scores.to(torch::kFloat32), batch.target.to(options.device));
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
      ++steps;
    }
    std::printf("epoch %d: loss %.6f\n", epoch, total / steps);
  }
  std::printf("parameters: %016" PRIx64 "\n", hash_parameters(*network));
}

} // namespace

int main(int argc, char** argv) {
  try {
    train(parse(argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "image-classifier: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
