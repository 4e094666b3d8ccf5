/* A plugin of this project: its name is changed in each copy. */
#include <BeeHive.h>

static const beehive_module_operations operations = {0};
BEEHIVE_MODULE(plugin_@@@@, &operations, BEEHIVE_REQUIRES("log"));

static const struct {
  int (*greet)(void);
} greeter;
BEEHIVE_SERVICE(Greeter, Greeter_@@@@, &greeter, BEEHIVE_SCOPE("singleton"));
