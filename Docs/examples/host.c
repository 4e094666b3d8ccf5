/* A host in C, as the guide WriteAHost.md shows it: it opens the plugins that it is given. */
#include <beehive/runtime.h>
#include <dlfcn.h>
#include <stdio.h>

static bool show_entry(const beehive_entry *entry, void *context) {
  (void)context;
  const char *reason = entry->reason ? entry->reason : "nothing is wrong";
  return printf("%s %s, %s: %s\n", entry->kind, entry->name, entry->source, reason) > 0;
}
static bool show_remark(const char *remark, void *context) {
  (void)context;
  return puts(remark) >= 0;
}

int main(int count, char **arguments) {
  for (int i = 1; i < count; i++)
    if (!dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL)) puts(dlerror());
  beehive_options options = BEEHIVE_OPTIONS;
  options.on_failure = BEEHIVE_ON_FAILURE_SKIP;
  bool has_started = beehive_start_with(&options);
  if (!has_started) puts(beehive_last_error());
  beehive_entries(show_entry, NULL);  /* each module and service, and what is wrong with it */
  beehive_remarks(show_remark, NULL); /* what is wrong and belongs to none of these */
  return has_started && beehive_stop() ? 0 : 1;
}
