/* Good, but its file is found through a folder that everybody may write to. */
#include "plugin.h"

static bool nothing(const beehive_context *context) { return context != 0; }
MODULE(cellar, nothing, "");
