/* Built in two versions of the plugin com.example.counter. The higher version loads. */
#include "plugin.h"

#ifndef VERSION
#define VERSION "1.0.0"
#endif

BEEHIVE_PLUGIN("com.example.counter", VERSION, BEEHIVE_NAME("Counter"));

static bool count_the_stock(const beehive_context *context) {
  (void)context;
  puts("the stock is counted, by counter " VERSION);
  return true;
}
MODULE(counter, count_the_stock, BEEHIVE_AFTER("till"));
