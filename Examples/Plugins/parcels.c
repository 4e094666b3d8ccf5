/* Good, until everybody may write to its file. */
#include "plugin.h"

static bool nothing(const beehive_context *context) { return context != 0; }
MODULE(parcels, nothing, "");
