/* Good, and compiled for another machine. */
#include <BeeHive.h>

static const beehive_module_operations operations = {0};
BEEHIVE_MODULE(scale, &operations, "");
