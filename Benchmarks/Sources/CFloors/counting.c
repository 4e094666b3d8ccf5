/* The clock, the memory, where a library is, and the marks for callgrind. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "CFloors.h"

#if defined(__has_include)
#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#define HAS_CALLGRIND 1
#endif
#endif

uint64_t floor_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t floor_anonymous_bytes(void) {
  char line[256];
  unsigned long kilobytes = 0;
  malloc_trim(0);
  FILE *status = fopen("/proc/self/status", "r");
  if (status == NULL) return 0;
  while (fgets(line, sizeof line, status) != NULL) (void)sscanf(line, "RssAnon: %lu", &kilobytes);
  fclose(status);
  return (uint64_t)kilobytes * 1024u;
}

const char *floor_library_of(const char *symbol) {
  Dl_info found;
  void *address = dlsym(RTLD_DEFAULT, symbol);
  return address != NULL && dladdr(address, &found) != 0 ? found.dli_fname : NULL;
}

void floor_settle(void) {
  volatile char *piece = malloc(1 << 16);
  if (piece != NULL) *piece = 0; /* or the compiler takes out the pair */
  free((void *)piece);
}

#ifdef HAS_CALLGRIND

/* Leaves out everything before the first mark, such as making a hundred thousand routes. */
void floor_count_begin(void) {
  CALLGRIND_START_INSTRUMENTATION;
  CALLGRIND_ZERO_STATS;
}
void floor_count_end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); }
int floor_counts(void) { return 1; }

#else

void floor_count_begin(void) {}
void floor_count_end(const char *name) { (void)name; }
int floor_counts(void) { return 0; }

#endif
