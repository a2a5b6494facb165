// Results that lie in the order in which threads come.
#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <vector>

struct Batch {
  int index;
};
Batch load(int);
void update(float rate);
void print_progress(float share);

class Loader {
public:
  void start(int n) {
    for (int i = 0; i < n; ++i) threads_.emplace_back(&Loader::work, this);
  }

private:
  void work() {
    while (true) {
      int index;
      {
        std::lock_guard<std::mutex> guard(mutex_);
        index = next_++;
      }
      const Batch batch = load(index);
      std::unique_lock<std::mutex> lock(mutex_);
      ready_.push(batch); // expect: thread-order
    }
  }
  int next_ = 0;
  std::mutex mutex_;
  std::queue<Batch> ready_;
  std::vector<std::thread> threads_;
};

std::vector<Batch> collected(int n) {
  std::vector<Batch> out;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const Batch batch = load(i);
#pragma omp critical
    out.push_back(batch); // expect: thread-order
  }
  return out;
}

class Training {
public:
  void run(int n) {
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([this, i] { work(i); });
    for (auto& thread : threads) thread.join();
  }

private:
  void work(int) {
    while (seen_ < 1000) {
      float progress = float(seen_) / 1000; // expect: thread-order
      float rate = 0.1f * (1 - progress);
      update(rate);
      seen_ += 10;
    }
  }
  std::atomic<long> seen_{0};
};
void update(float) {}

// Right.
std::vector<Batch> by_index(int n) {
  std::vector<Batch> out(n);
#pragma omp parallel for
  for (int i = 0; i < n; ++i) out[i] = load(i);
  return out;
}

std::vector<int> sorted(int n) {
  std::vector<int> out;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const int index = load(i).index;
#pragma omp critical
    out.push_back(index);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::map<int, Batch> keyed(int n) {
  std::map<int, Batch> out;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const Batch batch = load(i);
#pragma omp critical
    out.emplace(i, batch);
  }
  return out;
}

std::vector<std::string> messages(int n) {
  std::vector<std::string> errors;
#pragma omp parallel for
  for (int i = 0; i < n; ++i)
    if (load(i).index < 0) {
#pragma omp critical
      errors.push_back("bad");
    }
  return errors;
}

void one_prefetcher(std::queue<Batch>& ready, std::mutex& mutex) {
  std::thread worker([&] {
    for (int i = 0; i < 10; ++i) {
      const Batch batch = load(i);
      std::lock_guard<std::mutex> guard(mutex);
      ready.push(batch);
    }
  });
  worker.join();
}

class Shown {
public:
  void run(int n) {
    std::vector<std::thread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([this] {
        seen_ += 1;
        float share = float(seen_) / 1000;
        print_progress(share);
      });
    for (auto& thread : threads) thread.join();
  }

private:
  std::atomic<long> seen_{0};
};
void print_progress(float) {}

void own_sequences(int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    std::vector<Batch> own;
    own.push_back(load(i));
  }
}
