// Two threads load and close the libraries that are named, while a third one takes events if a word follows.
#include "host.h"

static void *cycle(void *path) {
  for (int i = 0; i < 500; i++) {
    void *handle = load(path);
    if (handle == NULL) return NULL;
    dlclose(handle);
  }
  return NULL;
}
static void *drain(void *stop) {
  image_event taken[3];
  while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) image_events_take(taken, 3);
  return NULL;
}
int main(int count, char **arguments) {
  pthread_t first, second, third;
  bool stop = false;
  bool drains = count > 3;
  if (drains) pthread_create(&third, NULL, drain, &stop);
  pthread_create(&first, NULL, cycle, arguments[1]);
  pthread_create(&second, NULL, cycle, arguments[2]);
  pthread_join(first, NULL);
  pthread_join(second, NULL);
  __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
  if (drains) pthread_join(third, NULL);
  image_event taken[3];
  size_t left = image_events_take(taken, 3);
  CHECK(left <= 2 && (drains || left == 2));
  CHECK(image_events_generation() == 2);
  CHECK(is_mapped(arguments[1]) && is_mapped(arguments[2]));
  return failures;
}
