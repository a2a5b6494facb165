/* A program with LibTorch and nothing else: `reprobe` starts it with the shim preloaded, which re-executes saved cases
 * in place of this main. */
#include <stdio.h>

int main(void) {
  fputs("reprobe-replay: nothing to do here; `reprobe replay` starts it\n", stderr);
  return 3;
}
