// The note of the program itself, if it is where it says.
#include "host.h"

#include <BeeHive.h>
BeeHiveMod(Own.Module);
static char large[100000] = {1};         // so that a wrong range would still be inside
int main(void) {
  image_list list = {0}, previous = {0};
  CHECK(image_list_scan(&list, &previous));
  image_entry own = list.entries[0];
  CHECK(own.role == IMAGE_ROLE_MAIN);
  CHECK(large[0] == 1);
  if (own.note == IMAGE_NOTE_FOUND) {
    const char *const *mods = (const char *const *)own.sections[0].start;
    CHECK(own.sections[0].stop - own.sections[0].start == sizeof *mods);
    CHECK(!strcmp(*mods, "Own.Module"));
  } else {
    CHECK(own.note == IMAGE_NOTE_MOVED);
  }
  return failures;
}
