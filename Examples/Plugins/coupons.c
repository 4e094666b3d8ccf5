/* Two modules that each wait for the other. */
#include "plugin.h"

static bool nothing(const beehive_context *context) { return context != 0; }
MODULE(coupons, nothing, BEEHIVE_REQUIRES("members"));
MODULE(members, nothing, BEEHIVE_REQUIRES("coupons"));
