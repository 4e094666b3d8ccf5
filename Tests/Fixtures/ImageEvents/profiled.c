// An allocator that walks the list of the loader under a lock of its own, as heap profilers do.
#include "host.h"

#include <link.h>
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile bool is_profiled;
static __thread bool is_inside;
static __thread size_t allocations;
static int visit(struct dl_phdr_info *i, size_t s, void *c) { (void)i, (void)s, (void)c; return 0; }
static void profile(void) {
  if (!is_profiled || is_inside) return;
  is_inside = true;
  allocations++;
  pthread_mutex_lock(&lock);
  dl_iterate_phdr(visit, NULL);
  pthread_mutex_unlock(&lock);
  is_inside = false;
}
void *malloc(size_t size) { profile(); return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { profile(); return __libc_calloc(count, size); }
static void *allocate(void *unused) {
  while (is_profiled) { void *volatile bytes = malloc(32); free(bytes); }
  return unused;
}
int main(void) {
  is_profiled = true;
  pthread_t thread;
  pthread_create(&thread, NULL, allocate, NULL);
  for (int i = 0; i < 5000; i++) {
    image_list list = {0}, previous = {0};
    CHECK(image_list_scan(&list, &previous));
    CHECK(list.count > 2);
    image_list_free(&list);
    image_list_free(&previous);
  }
  is_profiled = false;
  pthread_join(thread, NULL);
  CHECK(allocations > 5000 * 3);
  return failures;
}
