// Seeds from entropy: direct, through variables, fields, helpers and parameters.
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <random>
#include <thread>
#include <unistd.h>
#include <vector>

void direct() {
  torch::manual_seed(std::random_device{}()); // expect: entropy-seed
  torch::manual_seed(time(nullptr)); // expect: entropy-seed
  std::srand(static_cast<unsigned>(std::time(nullptr))); // expect: entropy-seed
  srand(getpid()); // expect: entropy-seed
}

void engines() {
  std::random_device device;
  std::mt19937 engine(device()); // expect: entropy-seed
  std::mt19937_64 clocked(std::chrono::steady_clock::now().time_since_epoch().count()); // expect: entropy-seed
  std::default_random_engine braced{std::random_device{}()}; // expect: entropy-seed
  std::seed_seq sequence{device(), device()}; // expect: entropy-seed
  std::minstd_rand later;
  later.seed(device()); // expect: entropy-seed
}

void through_a_variable() {
  auto seed = std::random_device{}();
  std::cout << "seed " << seed << "\n";
  torch::manual_seed(seed); // expect: entropy-seed
}

void shuffled(std::vector<int>& items) {
  std::shuffle(items.begin(), items.end(), std::random_device{}); // expect: entropy-seed
  std::shuffle(items.begin(), items.end(), std::mt19937(std::random_device{}())); // expect: entropy-seed
  std::random_device device;
  std::uniform_int_distribution<int> distribution(0, 9);
  items[0] = distribution(device); // expect: entropy-seed
}

void maybe(long seed) {
  std::random_device device;
  std::mt19937 engine(seed == 0 ? device() : static_cast<unsigned>(seed)); // expect: entropy-seed
}

// The caller chooses the seed: it is the caller's fault, or nobody's.
void seed_all(unsigned seed) {
  torch::manual_seed(seed);
  std::srand(seed);
}

void calls_with_entropy() {
  seed_all(std::random_device{}()); // expect: entropy-seed
}

void calls_with_constant() {
  seed_all(42);
}

unsigned make_seed() {
  std::random_device device;
  return device();
}

void through_a_helper() {
  torch::manual_seed(make_seed()); // expect: entropy-seed
}

struct Config {
  unsigned seed = 1;
  unsigned other = 2;
};

void through_a_field() {
  Config config;
  config.other = std::random_device{}(); // expect: entropy-seed
  auto start = [](const Config& c) { torch::manual_seed(c.other); };
  start(config);
}

// Right.
void constant() {
  torch::manual_seed(42);
  std::mt19937 engine(42);
  std::mt19937 standard;
  std::srand(7);
}

void from_configuration(const Config& config, int argc, char** argv) {
  torch::manual_seed(config.seed);
  std::mt19937 engine(argc > 1 ? std::stoul(argv[1]) : 42);
}

void timing_only() {
  auto start = std::chrono::steady_clock::now();
  clock_t ticks = clock();
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::cout << seconds << " " << ticks << " " << time(nullptr) << "\n";
}

void copies_of_one_engine() {
  std::mt19937 images(3);
  std::mt19937 labels(images);
  torch::manual_seed(images());
}

namespace mine {
struct random_device {
  unsigned operator()() { return 4; }
};
int time(void*) { return 3; }
} // namespace mine

void own_names() {
  mine::random_device device;
  std::mt19937 engine(device());
  torch::manual_seed(mine::time(nullptr));
}

void unused_device() {
  std::random_device device; // made, never read for a seed
  std::cout << device.entropy() << "\n";
}
