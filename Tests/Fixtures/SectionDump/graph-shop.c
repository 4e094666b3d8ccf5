#include <BeeHive.h>
#include <beehive/routing.h>
static const beehive_module_operations operations = {0};
static const int english = 1;
static bool perform(const beehive_call *call, beehive_reply *reply) { return call == reply; }
static const beehive_action actions[] = { { "price", perform } };
BEEHIVE_MODULE(shop, &operations,
               BEEHIVE_REQUIRES("log") BEEHIVE_REQUIRES("nowhere") BEEHIVE_AFTER("net")
               BEEHIVE_NEEDS("Greeter") BEEHIVE_NEEDS("Purse"));
BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english,);
BEEHIVE_SERVICE(Clock, WallClock, &english, BEEHIVE_SCOPE("singleton"));
BEEHIVE_TARGET(till, actions, BEEHIVE_ACTION("price(sku: String)"));
BEEHIVE_ROUTE("app://shop/:id", perform,);
