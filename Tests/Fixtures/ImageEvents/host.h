// Programs in C around the hook include this; each has a `main` of its own that returns `failures`.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "CImageEvents.h"
#include "CImageList.h"
static int failures;
/* A case that hangs ends by itself; who starts it may have blocked every signal. */
__attribute__((constructor)) static void give_up_in_the_end(void) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  alarm(600);
}
#define CHECK(condition) \
  do { \
    if (!(condition)) { failures++; printf("line %d: %s\n", __LINE__, #condition); } \
  } while (0)
static void *load(const char *path) {
  void *handle = dlopen(path, RTLD_NOW);
  if (handle == NULL) { failures++; puts(dlerror()); }
  return handle;
}
static bool is_mapped(const char *name) {
  image_list list = {0}, previous = {0};
  bool found = false;
  CHECK(image_list_scan(&list, &previous));
  for (size_t i = 0; i < list.count; i++)
    found |= strcmp(list.names + list.entries[i].name, name) == 0;
  image_list_free(&list);
  image_list_free(&previous);
  return found;
}
