// Every macro, in every place where it may stand. Compiled as C and as C++; what it must yield is
// in everything.records (the typed records) and everything.pointers (the pointer entries).
#include <BeeHive.h>

// Names are never expanded: these words are common macros.
#define Shop 42
#define text "no"
#define linux 1
#define used
#define section(name)
#define head tail

BeeHiveMod(Shop.ShopModule);
BeeHiveMod(linux.text);
BeeHiveMod(Cache<Key, Value>);
BeeHiveService(Shop.HomeService, Shop.HomeViewModel);
BeeHiveService(Store, Cache<Key, Value>);

static bool set_up(const beehive_context *context) { return context->custom != BEEHIVE_NULL; }
static const beehive_module_operations audio_operations = {
    set_up, BEEHIVE_NULL, BEEHIVE_NULL, BEEHIVE_NULL, BEEHIVE_NULL, BEEHIVE_NULL};

#define AUDIO_PRIORITY 10
BEEHIVE_MODULE(audio, &audio_operations);
BEEHIVE_MODULE(linux.audio, &audio_operations,
               BEEHIVE_PRIORITY(AUDIO_PRIORITY) BEEHIVE_LEVEL("basic") BEEHIVE_REQUIRES("log")
                   BEEHIVE_REQUIRES("net") BEEHIVE_AFTER("disk")
                       BEEHIVE_ATTRIBUTE("author", "K. \xc3\x96"));

struct greeter {
  void (*greet)(const char *name);
};
static void greet_in_english(const char *name) { (void)name; }
static const struct greeter english = {greet_in_english};
BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english);
BEEHIVE_SERVICE(Shop.Greeter, Shop.English, &english,
                BEEHIVE_SCOPE("singleton") BEEHIVE_PRIORITY(-3) BEEHIVE_NAME("en"));

static void *create_session(const beehive_context *context) { return context->hive; }
static void destroy_session(void *session) { (void)session; }
BEEHIVE_SERVICE_FACTORY(Session, DiskSession, create_session, destroy_session);
BEEHIVE_SERVICE_FACTORY(Session, NetSession, create_session, BEEHIVE_NULL,
                        BEEHIVE_SCOPE("transient"));
BEEHIVE_SERVICE_FACTORY(Store, DiskSession, create_session, destroy_session,
                        BEEHIVE_SCOPE("weak") BEEHIVE_SHARED);

BEEHIVE_PLUGIN("com.example.greet", "1.4.2");
BEEHIVE_PLUGIN("com.example.greet-more", "2.0-beta.1",
               BEEHIVE_NAME("Greetings") BEEHIVE_NAME_IN("de", "Gr\xc3\xbc\xc3\x9f"
                                                               "e") BEEHIVE_LICENCE("MIT")
                   BEEHIVE_HOMEPAGE("https://example.com/greet") BEEHIVE_ICON("greet"));

static bool stock(const beehive_call *call, beehive_reply *reply) {
  beehive_reply_integer(reply, beehive_integer(call, "count", 1));
  return beehive_text(call, "sku") != BEEHIVE_NULL;
}
static const beehive_action shop_actions[] = {{"stock", stock}, {"sell", stock}};
BEEHIVE_TARGET(shop, shop_actions);
BEEHIVE_TARGET(linux.shop, shop_actions,
               BEEHIVE_ACTION("remote stock(sku: String, count: Int = 1) -> Int")
                   BEEHIVE_ACTION("sell()"));
BEEHIVE_ROUTE("app://stock/:sku", stock);
BEEHIVE_ROUTE("app://sell/:sku<Int>?count<Int>=1", stock,
              BEEHIVE_REMOTE BEEHIVE_PRIORITY(2) BEEHIVE_MATCH("prefix") BEEHIVE_RETURNS("Int"));

#ifdef __cplusplus
namespace outer {
BeeHiveMod(In.Namespace);
namespace {
BeeHiveMod(In.Unnamed);
BEEHIVE_SERVICE(In.Unnamed, Greeter, &english);
}  // namespace
}  // namespace outer
extern "C" {
BeeHiveMod(In.ExternC);
BEEHIVE_MODULE(In.ExternC, &audio_operations);
}
#else
BeeHiveMod(In.Namespace);
BeeHiveMod(In.Unnamed);
BEEHIVE_SERVICE(In.Unnamed, Greeter, &english);
BeeHiveMod(In.ExternC);
BEEHIVE_MODULE(In.ExternC, &audio_operations);
#endif
