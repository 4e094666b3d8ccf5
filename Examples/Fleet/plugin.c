/* The source of every file of the generated fleet: a module and a service, with room for the words that generate.py
 * writes into them. */
#include <BeeHive.h>

#define ROOM "................................................................"

struct table {
  void (*functions[8])(void);
};

static const beehive_module_operations operations = {0};
static const struct table table = {{0}};

BEEHIVE_MODULE(module, &operations, BEEHIVE_REQUIRES(ROOM));
BEEHIVE_SERVICE(Service, Implementation, &table, BEEHIVE_VERSION("0.0.0"));
