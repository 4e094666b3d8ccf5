// Loads a library without a note and one with it, and closes both.
#include "host.h"

int main(int count, char **arguments) {
  for (int i = 0; i < 3; i++) {
    void *silent = load(arguments[1]), *noted = load(arguments[2]);
    if (failures) return failures;
    dlclose(noted);
    dlclose(silent);
    CHECK(!is_mapped(arguments[1]));
    CHECK(is_mapped(arguments[2]));
  }
  image_event taken[2];
  CHECK(image_events_take(taken, 2) == 1 && taken[0].pinned);
  // By a relative name, and the directory changes at once.
  void *relative = load("./stays_too.so");
  CHECK(chdir("/") == 0);
  dlclose(relative);
  CHECK(is_mapped("./stays_too.so"));
  CHECK(dlerror() == NULL);
  return failures;
}
