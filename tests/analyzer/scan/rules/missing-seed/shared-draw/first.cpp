// Two programs draw at one place: each needs a seed.
#include "network.h"

int main() { // expect: missing-seed
  Network network;
  network.layer(torch::zeros({1, 4})).sum().backward();
}
