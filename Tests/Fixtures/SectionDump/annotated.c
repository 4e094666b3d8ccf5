// Entries as an author writes them with the header.
#include <BeeHive.h>
BeeHiveMod(Shop.ShopModule);
BeeHiveService(Shop.HomeService, Cache<Key, Value>);
static bool set_up(const beehive_context *context) { return context != 0; }
static const beehive_module_operations audio_operations = { .set_up = set_up };
BEEHIVE_MODULE(audio, &audio_operations,
               BEEHIVE_PRIORITY(10) BEEHIVE_REQUIRES("log") BEEHIVE_REQUIRES("net"));
static const struct greeter { int number; } english = { 1 };
BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english,
                BEEHIVE_SCOPE("singleton") BEEHIVE_ATTRIBUTE("colour", "a=b"));
