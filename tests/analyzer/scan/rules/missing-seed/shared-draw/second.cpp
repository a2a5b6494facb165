#include "network.h"

int main() { Network().layer(torch::zeros({1, 4})).sum().backward(); } // expect: missing-seed
