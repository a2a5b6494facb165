#include "../../third_party/cudnn_dropout.h"
#include <ctime>

int main() {
  cudnnSetDropoutDescriptor(nullptr, nullptr, 0.5f, nullptr, 0, time(nullptr)); // expect: entropy-seed
  cudnnSetDropoutDescriptor(nullptr, nullptr, 0.5f, nullptr, 0, 7);
}
