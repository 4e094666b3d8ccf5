/* Declares the module of flyers.swift. */
#include "plugin.h"

bool flyers_set_up(void);
static bool set_up(const beehive_context *context) { return context != 0 && flyers_set_up(); }
MODULE(flyers, set_up, "");
