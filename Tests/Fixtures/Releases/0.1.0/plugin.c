// A plugin as an author of 0.1.0 would write it, in C and in C++: every kind of entry that its header has.
#include <BeeHive.h>
#include <stdio.h>
#include <stdlib.h>

BeeHiveMod(Shop.ShopModule);
BeeHiveService(Shop.Home, Shop.HomeView);

static bool set_up(const beehive_context *context) {
  return printf("set up in %s\n", context->environment) > 0;
}
static bool event(const beehive_context *context, const beehive_event *event) {
  (void)context;
  return printf("event %d %s\n", (int)event->number, event->name) > 0;
}
static void tear_down(const beehive_context *context) {
  (void)context;
  puts("torn down");
}
static const beehive_module_operations audio_operations = {set_up, BEEHIVE_NULL, BEEHIVE_NULL,
                                                           event,  tear_down,    BEEHIVE_NULL};
BEEHIVE_MODULE(audio, &audio_operations,
               BEEHIVE_PRIORITY(10) BEEHIVE_LEVEL("basic") BEEHIVE_AFTER("disk")
                   BEEHIVE_ATTRIBUTE("author", "somebody"));

struct greeter {
  const char *(*greet)(void);
};
static const char *greet(void) { return "Good morning."; }
static const struct greeter english = {greet};
BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english, BEEHIVE_SCOPE("singleton") BEEHIVE_NAME("en"));

static void *create_session(const beehive_context *context) {
  const struct greeter *greeter = (const struct greeter *)beehive_context_service(
      context, "Greeter", "en", sizeof(struct greeter));
  printf("session: %s\n", greeter ? greeter->greet() : "no greeter");
  return malloc(1);
}
static void destroy_session(void *session) {
  puts("session ends");
  free(session);
}
BEEHIVE_SERVICE_FACTORY(Session, DiskSession, create_session, destroy_session,
                        BEEHIVE_SCOPE("scoped"));

static bool stock(const beehive_call *call, beehive_reply *reply) {
  beehive_reply_integer(reply, beehive_integer(call, "count", 1));
  return beehive_text(call, "sku") != BEEHIVE_NULL;
}
static const beehive_action shop_actions[] = {{"stock", stock}};
BEEHIVE_TARGET(shop, shop_actions,
               BEEHIVE_ACTION("remote stock(sku: String, count: Int = 1) -> Int"));
BEEHIVE_ROUTE("app://stock/:sku?count<Int>=1", stock, BEEHIVE_REMOTE BEEHIVE_RETURNS("Int"));
