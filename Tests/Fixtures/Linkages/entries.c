/* What every file of Scripts/make-fixtures registers, however it was compiled and linked. */
#include <BeeHive.h>

BeeHiveMod(Shop.CartModule);
BeeHiveMod(CartModule); /* the end of the text above: linkers keep one copy */
BeeHiveService(Shop.HomeService, Cache<Key, Value>);

static bool set_up(const beehive_context *context) { return context != 0; }
static const beehive_module_operations audio_operations = { .set_up = set_up };
BEEHIVE_MODULE(audio, &audio_operations, BEEHIVE_PRIORITY(-10) BEEHIVE_REQUIRES("log"));

static const struct greeter { int number; } english = { 1 };
BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english, BEEHIVE_SCOPE("singleton"));

/* Where an executable starts, for the linkers of two formats. */
int main(void) { return 0; }
void _start(void);
void _start(void) {}
