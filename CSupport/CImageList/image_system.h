/* What the C library is asked for. Apple's headers come with its SDK only; where the Mach-O side is
 * cross-compiled without one, the few functions are declared here. */
#ifndef IMAGE_SYSTEM_H
#define IMAGE_SYSTEM_H

#if !defined(__APPLE__) || __has_include(<TargetConditionals.h>)

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#else

#include <stddef.h>

void *malloc(size_t);
void *realloc(void *, size_t);
void free(void *);
void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *memcpy(void *, const void *, size_t);
void *memmove(void *, const void *, size_t);
void *memset(void *, int, size_t);
int memcmp(const void *, const void *, size_t);
void *memchr(const void *, int, size_t);
size_t strlen(const char *);
int strcmp(const char *, const char *);
int sched_yield(void);

typedef struct dl_info {
  const char *dli_fname;
  void *dli_fbase;
  const char *dli_sname;
  void *dli_saddr;
} Dl_info;
int dladdr(const void *, Dl_info *);
void *dlopen(const char *, int);
int dlclose(void *);
char *dlerror(void);
#define RTLD_LAZY 0x1
#define RTLD_NOLOAD 0x10
#define RTLD_NODELETE 0x80

#endif
#endif
