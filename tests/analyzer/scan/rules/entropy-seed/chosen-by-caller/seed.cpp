#include <cstdlib>

void start(unsigned seed) { std::srand(seed); }
