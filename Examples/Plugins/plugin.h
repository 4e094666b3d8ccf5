/* A module of one function. */
#include <BeeHive.h>
#include <stdio.h>

#define MODULE(name, function, attributes)                                         \
  static const beehive_module_operations name##_operations = {.set_up = function}; \
  BEEHIVE_MODULE(name, &name##_operations, attributes)
