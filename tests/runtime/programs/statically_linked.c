#include <stdio.h>

int main(void) {
  puts("plain C");
  return 0;
}
