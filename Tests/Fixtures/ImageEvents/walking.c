// Four threads walk the list of the loader at once.
#include "host.h"

static image_list expected;
static void *walk(void *unused) {
  for (int i = 0; i < 20000; i++) {
    image_list list = {0}, previous = {0};
    bool is_same = image_list_scan(&list, &previous) && list.count == expected.count;
    for (size_t n = 0; n < list.count && is_same; n++)
      is_same = image_list_same(&list, n, &expected, n);
    CHECK(is_same);
    image_list_free(&list);
    image_list_free(&previous);
  }
  return unused;
}
int main(int count, char **plugins) {
  for (int i = 1; i < count; i++) load(plugins[i]);
  image_list previous = {0};
  CHECK(image_list_scan(&expected, &previous));
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, walk, NULL);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  return failures;
}
