// A host as an author of 0.1.0 would write it: opens a plugin, and prints what it registers and does.
#include <beehive/runtime.h>
#include <dlfcn.h>
#include <stdio.h>

struct greeter {
  const char *(*greet)(void);
};

static bool show(const beehive_entry *entry, void *context) {
  (void)context;
  static const char *const states[] = {"bound", "accepted", "rejected", "disabled"};
  printf("%s %s %s → %s\n", states[entry->state], entry->kind, entry->name,
         entry->implementation ? entry->implementation : "nothing");
  return true;
}

int main(int count, char **arguments) {
  if (count != 2 || !dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL)) return 2;
  beehive_options options = BEEHIVE_OPTIONS;
  options.environment = "test";
  if (!beehive_start_with(&options)) return puts(beehive_last_error()), 1;
  const struct greeter *greeter =
      (const struct greeter *)beehive_service_named("Greeter", "en", sizeof(struct greeter));
  puts(greeter ? greeter->greet() : beehive_last_error());
  beehive_scope *scope = beehive_scope_begin(NULL);
  if (!beehive_scope_service(scope, "Session", NULL, 1)) puts(beehive_last_error());
  beehive_scope_end(scope);
  printf("handled: %d\n", beehive_trigger(1001, "tea", "now", 4));
  printf("%d entries\n", (int)beehive_entries(show, NULL));
  return beehive_stop() ? 0 : 1;
}
