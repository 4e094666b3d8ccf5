// Opens what it is given, and says of each whether it loads.
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words) {
  for (int i = 1; i < count; i++) puts(dlopen(words[i], RTLD_NOW | RTLD_LOCAL) ? "true" : "false");
  return 0;
}
