/* Calls a name that is no function: the C library has a variable of this name. */
#include "plugin.h"

long timezone(void);

static bool show_the_hour(const beehive_context *context) { return context && timezone(); }
MODULE(clock, show_the_hour, "");
