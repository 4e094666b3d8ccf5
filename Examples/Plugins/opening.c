/* A good plugin: its module is there once it is set up. */
#include "plugin.h"

static bool open_the_door(const beehive_context *context) {
  (void)context;
  puts("the door is open");
  return true;
}
MODULE(opening, open_the_door, "");
