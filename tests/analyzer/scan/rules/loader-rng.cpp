// Random numbers drawn by threads.
#include <algorithm>
#include <cstdlib>
#include <pthread.h>
#include <random>
#include <thread>
#include <vector>

float random_share() {
  return std::rand() / float(RAND_MAX); // expect: loader-rng
}

void augment(std::vector<float>& image) {
  if (random_share() < 0.5f) image[0] = 1;
}

void in_threads(std::vector<std::vector<float>>& images) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < images.size(); ++i) threads.emplace_back([&, i] { augment(images[i]); });
  for (auto& thread : threads) thread.join();
}

// C, as loaders of older frameworks are written.
unsigned jitter() {
  return rand() % 7; // expect: loader-rng
}

void* load_image(void* image) {
  *static_cast<int*>(image) += jitter();
  return nullptr;
}

pthread_t load_later(int* image) {
  pthread_t thread;
  pthread_create(&thread, nullptr, load_image, image);
  return thread;
}

void load_all(int* images, int n) {
  std::vector<pthread_t> threads(n);
  for (int i = 0; i < n; ++i) threads[i] = load_later(images + i);
  for (int i = 0; i < n; ++i) pthread_join(threads[i], nullptr);
}

std::mt19937 engine(42);

void shared_engine(float* out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    std::uniform_real_distribution<float> uniform(0, 1);
    out[i] = uniform(engine); // expect: loader-rng
  }
}

class Dataset {
public:
  explicit Dataset(int seed) : engine_(seed) {}
  void fill(std::vector<float>& out) {
#pragma omp parallel for
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = engine_(); // expect: loader-rng
  }
  void shuffle(std::vector<int>& order) { std::shuffle(order.begin(), order.end(), engine_); }

private:
  std::mt19937 engine_;
};

// Right.
void own_engine(float* out, int n, int seed) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    std::minstd_rand own(seed + i);
    std::uniform_real_distribution<float> uniform(0, 1);
    out[i] = uniform(own);
  }
}

void engine_of_the_item(std::vector<std::mt19937>& engines, float* out, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) out[i] = engines[i]();
}

float one_thread_draws() {
  float value = 0;
  std::thread worker([&] { value = engine(); });
  worker.join();
  return value;
}

float sequential() {
  std::uniform_real_distribution<float> uniform(0, 1);
  return uniform(engine);
}
