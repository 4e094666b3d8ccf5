/* Calls the host of calls.c from a factory and from what the loader runs. */
#include <BeeHive.h>

void beehive_test_calls(const char *here, const beehive_context *context);

static void *create(const beehive_context *c) {
  static int thing;
  beehive_test_calls("create", c);
  return &thing;
}
static void destroy(void *thing) {
  (void)thing;
  beehive_test_calls("destroy", BEEHIVE_NULL);
}
BEEHIVE_SERVICE_FACTORY(Thing, Thing, create, destroy);
static void __attribute__((constructor)) opened(void) { beehive_test_calls("constructor", BEEHIVE_NULL); }
static void __attribute__((destructor)) closed(void) { beehive_test_calls("destructor", BEEHIVE_NULL); }

/* Runs on the main actor, if its library is open. */
BeeHiveMod(SwiftPlugin.Window);
