// A typed record of each abi, with and without attributes, twice.
#include <BeeHive.h>

struct greeter {
  int (*greet)(int loudness);
};

static int greet(int loudness) { return loudness + 1; }
static const struct greeter english = {greet};

static bool set_up(const beehive_context *context) { return context != BEEHIVE_NULL; }
static const beehive_module_operations operations = {set_up,       BEEHIVE_NULL, BEEHIVE_NULL,
                                                     BEEHIVE_NULL, BEEHIVE_NULL, BEEHIVE_NULL};

static void *create(const beehive_context *context) { return context->custom; }
static void destroy(void *object) { (void)object; }

#ifdef TWIN
BEEHIVE_MODULE(Typed.Module.Twin, &operations, BEEHIVE_PRIORITY(10) BEEHIVE_REQUIRES("log"));
BEEHIVE_SERVICE(Typed.Service, Typed.Twin, &english, BEEHIVE_SCOPE("singleton"));
BEEHIVE_SERVICE_FACTORY(Typed.Session, Typed.Twin, create, destroy, BEEHIVE_NAME("twin"));
#else
BEEHIVE_MODULE(Typed.Module, &operations);
BEEHIVE_SERVICE(Typed.Service, Typed.English, &english);
BEEHIVE_SERVICE_FACTORY(Typed.Session, Typed.Disk, create, destroy);
#endif
