/* A host: opens the plugins that its arguments name, starts their modules, and asks for both services. */
#include <beehive/runtime.h>
#include <dlfcn.h>
#include <stdio.h>

#include "greeter.h"

static int failed(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  return 1;
}

int main(int count, char **arguments) {
  for (int i = 1; i < count; i++)
    if (!dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL)) return failed("dlopen", dlerror());
  if (!beehive_start()) return failed("start", beehive_last_error());
  const struct greeter *english = beehive_service_named("Greeter", NULL, sizeof *english);
  const struct greeter *german = beehive_service_named("Greeter", "german", sizeof *german);
  if (!english || !german) return failed("services", beehive_last_error());
  printf("%s and %s\n", english->greeting(), german->greeting());
  return beehive_stop() ? 0 : failed("stop", beehive_last_error());
}
