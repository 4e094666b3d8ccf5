#include "Modules.h"

#include <BeeHive.h>

static bool set_up(const beehive_context *context) {
  (void)context;
  return true;
}

static const beehive_module_operations clock_operations = {.set_up = set_up};

BEEHIVE_MODULE(clock, &clock_operations, BEEHIVE_LEVEL("basic"));
BeeHiveMod(CalendarModule);
BeeHiveService(Almanac, PrintedAlmanac);

void modules_link(void) {}
