// Loops that the clock ends.
#include <chrono>
#include <ctime>
#include <thread>

using Clock = std::chrono::steady_clock;
void step();
bool ready();
void print(double);

void until_a_deadline(std::chrono::seconds budget) {
  const auto end = Clock::now() + budget;
  while (Clock::now() < end) // expect: time-budget
    step();
}

void leaves_when_late(int steps, double limit) {
  const auto start = Clock::now();
  for (int i = 0; i < steps; ++i) {
    step();
    const double elapsed = std::chrono::duration<double>(Clock::now() - start).count(); // expect: time-budget
    if (elapsed > limit) break;
  }
}

double seconds_since(std::time_t start) { return std::difftime(std::time(nullptr), start); }

void through_a_function(std::time_t start) {
  do {
    step();
  } while (seconds_since(start) < 60); // expect: time-budget
}

class Search {
public:
  void run() {
    start_ = Clock::now();
    while (goes_on()) // expect: time-budget
      step();
  }

private:
  bool goes_on() const { return Clock::now() - start_ < std::chrono::seconds(5); }
  Clock::time_point start_;
};

// Right.
void timed(int steps) {
  const auto start = Clock::now();
  for (int i = 0; i < steps; ++i) step();
  print(std::chrono::duration<double>(Clock::now() - start).count());
}

void says_how_long(int steps) {
  auto last = Clock::now();
  for (int i = 0; i < steps; ++i) {
    step();
    if (Clock::now() - last > std::chrono::seconds(1)) {
      print(i);
      last = Clock::now();
    }
  }
}

bool waits(std::chrono::seconds timeout) {
  const auto end = Clock::now() + timeout;
  while (!ready() && Clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return ready();
}

void counted(int steps) {
  for (int i = 0; i < steps; ++i) step();
}
