/* A good plugin, which starts after another if that one is there. */
#include "plugin.h"

static bool count_the_coins(const beehive_context *context) {
  (void)context;
  puts("the coins are counted");
  return true;
}
MODULE(till, count_the_coins, BEEHIVE_AFTER("opening"));
