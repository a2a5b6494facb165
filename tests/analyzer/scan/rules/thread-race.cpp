// What several threads change without a lock.
#include <atomic>
#include <future>
#include <mutex>
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
