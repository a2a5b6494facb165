// What several threads change without a lock.
#include <atomic>
#include <future>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

double objective(int);
int bucket_of(int);

double shared_total(int n) {
  double total = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&total, i] { total += objective(i); }); // expect: thread-race
  for (std::thread& thread : threads) thread.join();
  return total;
}

std::vector<int> grown(int n) {
  std::vector<int> found;
  std::vector<std::future<void>> futures;
  for (int i = 0; i < n; ++i)
    futures.push_back(std::async(std::launch::async, [&, i] {
      if (objective(i) > 0) found.push_back(i); // expect: thread-race
    }));
  for (auto& future : futures) future.get();
  return found;
}

void openmp(const float* x, float* gradient, int n, int d) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < d; ++j)
      gradient[j] += x[i * d + j]; // expect: thread-race
}

void histogram(const int* bins, std::vector<int>& counts, int n) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; ++i)
    counts[bins[i]]++; // expect: thread-race
}

void packed(std::vector<bool>& done, int n) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] { done[i] = true; }); // expect: thread-race
  for (auto& thread : threads) thread.join();
}

// Weights that every thread trains: found through the objects that hold them.
class Matrix {
public:
  virtual ~Matrix() = default;
  virtual void add(int row, float value) = 0;
};

class Dense : public Matrix {
public:
  void add(int row, float value) override {
    for (int j = 0; j < columns_; ++j) data_[row * columns_ + j] += value;
  }

private:
  std::vector<float> data_;
  int columns_ = 0;
};

class Trainer {
public:
  void train(int threads) {
    std::vector<std::thread> pool;
    for (int i = 0; i < threads; ++i)
      pool.push_back(std::thread([=]() { work(i); })); // expect: thread-race
    for (auto& thread : pool) thread.join();
  }

private:
  void work(int thread) {
    std::vector<int> rows;
    read(thread, rows);
    for (int row : rows)
      weights_->add(row, 0.5f); // expect: thread-race
    if (thread == 0) loss_ = 1.5f * rows.size();
  }
  void read(int thread, std::vector<int>& rows);

  Matrix* weights_ = nullptr;
  float loss_ = 0;
};

// A pool of the project's own.
class Pool {
public:
  explicit Pool(int n) {
    for (int i = 0; i < n; ++i) threads_.emplace_back(&Pool::loop, this);
  }
  template <class Job>
  void run_later(Job job);

private:
  void loop();
  std::vector<std::thread> threads_;
};

void pooled(Pool& pool, std::vector<float>& rewards, int n) {
  int finished = 0;
  std::vector<bool> ended(n);
  for (int i = 0; i < n; ++i)
    pool.run_later([&, i]() mutable {
      std::vector<float> own;
      own.push_back(1);
      rewards[i] = own[0];
      ended[i] = true; // expect: thread-race
      ++finished;      // expect: thread-race
    });
}

class Augmentation {
public:
  void forward(unsigned threads) {
    while (threads > engines_.size()) { // expect: thread-race
#pragma omp critical
      {
        engines_.push_back(1);
      }
    }
  }

private:
  std::vector<int> engines_;
};

// Right.
void disjoint(std::vector<float>& out, int n) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&out, i] { out[i] += objective(i); });
  for (auto& thread : threads) thread.join();
}

double locked(int n) {
  double total = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      const double part = objective(i);
      std::lock_guard<std::mutex> guard(mutex);
      total += part;
    });
  for (auto& thread : threads) thread.join();
  return total;
}

int locked_by_hand(int n) {
  int total = 0;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i)
    threads.emplace_back([&, i] {
      mutex.lock();
      if (i > 3) {
        mutex.unlock();
        return;
      }
      total += i;
      mutex.unlock();
    });
  for (auto& thread : threads) thread.join();
  return total;
}

int counted(int n) {
  std::atomic<int> count{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back([&] { ++count; });
  for (auto& thread : threads) thread.join();
  return count;
}

double one_thread() {
  double result = 0;
  std::thread worker([&] { result = objective(1); });
  worker.join();
  return result;
}

void rows_of_a_block(float* out, int n, int blocks) {
#pragma omp parallel for
  for (int b = 0; b < blocks; ++b) {
    const int first = b * n / blocks, last = (b + 1) * n / blocks;
    for (int i = first; i < last; ++i) out[i] += 1;
    float* row = out + b * n;
    for (int j = 0; j < n; ++j) row[j] += 2;
  }
}

float reduced(const float* x, int n) {
  float sum = 0;
  int odd = 0, i = 0;
#pragma omp parallel for reduction(+ : sum, odd) private(i)
  for (i = 0; i < n; ++i) {
    sum += x[i];
    odd += i % 2;
  }
  return sum + odd;
}

void guarded_by_openmp(const float* x, float& total, int n, bool& stop) {
#pragma omp parallel
  {
    float own = 0;
#pragma omp for nowait
    for (int i = 0; i < n; ++i) {
      own += x[i];
      if (x[i] < 0) stop = true;
    }
#pragma omp critical
    total += own;
#pragma omp single
    total *= 2;
  }
}

class Worker {
public:
  void run() { sum_ += objective(3); }

private:
  double sum_ = 0;
};

void a_worker_each(std::vector<Worker>& workers) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < workers.size(); ++i) threads.emplace_back(&Worker::run, &workers[i]);
  for (auto& thread : threads) thread.join();
}

void local_objects(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    Worker worker;
    worker.run();
    static thread_local double seen = 0;
    seen += 1;
  }
}

void sequential(std::vector<bool>& done, float& total) {
  for (std::size_t i = 0; i < done.size(); ++i) done[i] = true, total += 1;
}

void one_after_the_other(int n) {
  double total = 0;
  for (int i = 0; i < n; ++i) {
    std::thread worker([&] { total += objective(i); });
    worker.join();
  }
}

void shared_loop_variable(float* c, const float* a, int n) {
  int i, k;
#pragma omp parallel for
  for (i = 0; i < n; ++i)
    for (k = 0; k < n; ++k) // expect: thread-race
      c[i] += a[k];
}

// Two threads by name.
int common_total = 0;
double common_sum = 0;
void count(int i) { common_total += i; } // expect: thread-race
void add(int i) { common_sum = common_sum + i * 0.1; } // expect: thread-race
void add_to(double* sum, int i) { *sum += i * 0.1; }

void two_threads() {
  std::thread a(count, 1), b(count, 2);
  a.join();
  b.join();
  std::thread c(add, 1);
  std::thread d(add, 2);
  c.join(), d.join();
}

// Right: one after the other; each its own sum; each its own element, drawn from a queue or a counter.
int counted_in_turn = 0;
void count_in_turn(int i) { counted_in_turn += i; }

double in_turn() {
  std::thread a(count_in_turn, 1);
  a.join();
  std::thread b(count_in_turn, 2);
  b.join();
  double first = 0, second = 0;
  std::thread c(add_to, &first, 1), d(add_to, &second, 2);
  c.join(), d.join();
  return first + second;
}

struct Environment {
  int steps = 0;
  void step() { steps += 1; }
};
std::vector<Environment> environments(4);
std::queue<int> waiting;
std::mutex waiting_mutex;
std::atomic<int> next_environment{0};

void step_from_queue() {
  int index;
  {
    std::lock_guard<std::mutex> lock(waiting_mutex);
    index = waiting.front();
    waiting.pop();
  }
  environments[index].step();
}
void step_by_counter() {
  const int index = next_environment.fetch_add(1);
  environments[index].step();
}

void step_all() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(step_from_queue);
  for (std::thread& thread : threads) thread.join();
  threads.clear();
  for (int i = 0; i < 4; ++i) threads.emplace_back(step_by_counter);
  for (std::thread& thread : threads) thread.join();
}
