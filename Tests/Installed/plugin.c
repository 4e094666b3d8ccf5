/* A plugin in C: a service and a module, which link with nothing. */
#include <BeeHive.h>
#include <stdio.h>

#include "greeter.h"

static const char *hello(void) { return "Hello"; }
static const struct greeter english = {.greeting = hello};
BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english);

static bool set_up(const beehive_context *context) {
  printf("set up in %s\n", context->environment);
  return true;
}
static const beehive_module_operations desk = {.set_up = set_up};
BEEHIVE_MODULE(desk, &desk);
