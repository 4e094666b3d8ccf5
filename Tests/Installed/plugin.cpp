/* A plugin in C++: another service of the same structure. */
#include <BeeHive.h>

#include "greeter.h"

static const char *moin() { return "Moin"; }
static const greeter german = {moin};
BEEHIVE_SERVICE(Greeter, GermanGreeter, &german, BEEHIVE_NAME("german"));
