/* Runs code when it is loaded, before anybody asks for it. */
#include "plugin.h"

__attribute__((constructor)) static void count_the_visitors(void) { puts("a visitor!"); }

static bool nothing(const beehive_context *context) { return context != 0; }
MODULE(statistics, nothing, "");
