/* Ends the whole process that loads it. */
#include "plugin.h"
#include <stdlib.h>

__attribute__((constructor)) static void check_the_licence(void) { abort(); }

static bool nothing(const beehive_context *context) { return context != 0; }
MODULE(licence, nothing, "");
