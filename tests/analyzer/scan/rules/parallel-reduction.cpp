// Sums whose order threads decide.
#include <atomic>
#include <mutex>
#include <numeric>
#include <thread>
#include <vector>

double objective(int);

double reduced(const std::vector<double>& x) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i]; // expect: parallel-reduction
  return sum;
}

float dynamic(const float* x, int n) {
  float loss = 1;
  int count = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(*: loss) reduction(+: count)
  for (int i = 0; i < n; ++i) { // expect: parallel-reduction
    loss *= x[i];
    ++count;
  }
  return loss / count;
}

void atomic(const float* x, float& total, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma omp atomic
    total += x[i]; // expect: parallel-reduction
  }
}

void critical(const float* x, float& total, int n) {
#pragma omp parallel
  {
    float own = 0;
#pragma omp for
    for (int i = 0; i < n; ++i) own += x[i];
#pragma omp critical
    {
      total += own; // expect: parallel-reduction
    }
  }
}

double locked(int n) {
  double total = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      const double part = objective(i);
      std::scoped_lock guard(mutex);
      total += part; // expect: parallel-reduction
    });
  for (auto& thread : threads) thread.join();
  return total;
}

// Right.
int whole_numbers(const int* x, int n) {
  int sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

float largest(const float* x, int n) {
  float best = 0;
#pragma omp parallel for reduction(max : best)
  for (int i = 0; i < n; ++i)
    if (x[i] > best) best = x[i];
  return best;
}

float vectorised(const float* x, int n) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

double in_blocks(const double* x, int n, int blocks) {
  std::vector<double> parts(blocks);
#pragma omp parallel for
  for (int b = 0; b < blocks; ++b)
    for (int i = b * n / blocks; i < (b + 1) * n / blocks; ++i) parts[b] += x[i];
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

double sequential(const std::vector<double>& x) {
  return std::reduce(x.begin(), x.end(), 0.0);
}

int counted_under_lock(int n) {
  int count = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&] {
      std::lock_guard<std::mutex> guard(mutex);
      count += 1;
    });
  for (auto& thread : threads) thread.join();
  return count;
}
