// A node is pending once, and goes with its image.
#include "host.h"

int main(void) {
  beehive_image a = {.size = sizeof a, .version = 1, .header = "a"};
  beehive_image b = {.size = sizeof b, .version = 1, .header = "b"};
  beehive_image c = {.size = sizeof c, .version = 1, .header = "c"};
  image_event taken[4];
  uintptr_t start = image_events_generation();
  beehive_image_event(&a, 1);
  CHECK(image_events_generation() == start + 1);
  beehive_image_event(&a, 1);              // twice, as ThinLTO might
  CHECK(image_events_take(taken, 4) == 1);
  CHECK(!taken[0].pinned);                 // it is in no image
  beehive_image_event(&a, 0);
  beehive_image_event(&a, 1);              // another in its place
  beehive_image_event(&b, 1);
  beehive_image_event(&c, 1);
  beehive_image_event(&b, 0);              // from the middle
  memset(&b, 0xff, sizeof b);              // its memory is somebody else's now
  beehive_image_event(&a, 0);              // the last
  beehive_image_event(&a, 0);              // twice
  beehive_image_event(&a, 1);              // and back
  CHECK(image_events_take(taken, 1) == 1);
  CHECK(!strcmp(taken[0].header, "a"));
  CHECK(image_events_take(taken, 4) == 1);
  CHECK(!strcmp(taken[0].header, "c"));
  CHECK(image_events_take(taken, 4) == 0);
  beehive_image_event(&a, 1);              // known already
  CHECK(image_events_take(taken, 4) == 0);
  beehive_image later = {.size = 8, .version = 2};
  uintptr_t before = image_events_generation();
  beehive_image_event(&later, 1);
  CHECK(image_events_take(taken, 4) == 0); // its layout is unknown; the walk must do
  CHECK(image_events_generation() == before + 1);
  return failures;
}
