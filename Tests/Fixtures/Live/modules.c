// Modules that start, fail, come late or hang: `-DEARLY` has one of each fate, `-DLATE` two that come after the
// start, `-DHANGING` one that never ends its start.
#include <BeeHive.h>
#include <stdio.h>
#include <unistd.h>
static bool set_up(const beehive_context *context) { return context != 0; }
static bool refuse(const beehive_context *context) { return context == 0; }
static const beehive_module_operations good = { .set_up = set_up };
static const beehive_module_operations bad = { .set_up = refuse };
#ifdef EARLY
BEEHIVE_MODULE(log, &good);
BEEHIVE_MODULE(net, &bad);
BEEHIVE_MODULE(web, &good, BEEHIVE_REQUIRES("net"));
BEEHIVE_MODULE(shop, &good, BEEHIVE_REQUIRES("nowhere"));
BEEHIVE_MODULE(till, &good, BEEHIVE_REQUIRES("shop"));
BEEHIVE_MODULE(off, &good);
#endif
#ifdef LATE
static const void *unused[] = {&bad};
int use(void) { return unused[0] != 0; }
BEEHIVE_MODULE(late, &good);
BEEHIVE_MODULE(shut, &good);
#endif
#ifdef HANGING
static bool hang(const beehive_context *context) {
  puts("ready");
  sleep(3000);
  return context && bad.set_up;
}
static const beehive_module_operations stuck = { .set_up = hang };
BEEHIVE_MODULE(first, &good);
BEEHIVE_MODULE(second, &stuck, BEEHIVE_REQUIRES("first"));
BEEHIVE_MODULE(third, &good, BEEHIVE_REQUIRES("second"));
BEEHIVE_MODULE(lacking, &good, BEEHIVE_REQUIRES("nowhere"));
#endif
#ifdef SESSION
#include <stdlib.h>
static void *create(const beehive_context *context) {
  return calloc(1, context ? 8 : 9);
}
BEEHIVE_SERVICE_FACTORY(Session, Memory, create, free);
int use(void) { return (set_up == refuse) + (&good == &bad); }
#endif
