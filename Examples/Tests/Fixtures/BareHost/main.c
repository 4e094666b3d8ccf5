/* A host that is linked against nothing: it opens plugins, then libBeeHive.so, then Probe, which runs
 * the rest of the steps.
 *
 *   BareHost open=plugin.so hive=libBeeHive.so probe=libProbe.so entries
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *opened(const char *path, int flags) {
  void *handle = dlopen(path, RTLD_NOW | flags);
  if (handle == NULL) printf("cannot open: %s\n", dlerror());
  return handle;
}

int main(int count, const char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  void *last = NULL;
  for (int i = 1; i < count; i++) {
    const char *step = arguments[i], *value = strchr(step, '=');
    if (value == NULL) break;
    value++;
    if (strncmp(step, "open=", 5) == 0 || strncmp(step, "hive=", 5) == 0) {
      last = opened(value, RTLD_LOCAL);
    } else if (strncmp(step, "hive-global=", 12) == 0) {
      last = opened(value, RTLD_GLOBAL);
    } else if (strncmp(step, "close-last=", 11) == 0) {
      if (dlclose(last) != 0) printf("cannot close: %s\n", dlerror());
    } else if (strncmp(step, "probe=", 6) == 0) {
      void *probe = opened(value, RTLD_LOCAL);
      if (probe == NULL) return 1;
      int (*run_steps)(int, const char **);
      *(void **)&run_steps = dlsym(probe, "run_steps");
      if (run_steps == NULL) return 1;
      return run_steps(count - i - 1, arguments + i + 1);
    }
    if (last == NULL) return 1;
  }
  return 0;
}
