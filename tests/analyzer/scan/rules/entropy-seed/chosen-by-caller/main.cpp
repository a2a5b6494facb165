#include <ctime>

void start(unsigned seed);

int main(int argc, char**) {
  if (argc > 1) start(7);
  else start(static_cast<unsigned>(std::time(nullptr))); // expect: entropy-seed
}
