/* Declares the module of receipts.swift. */
#include "plugin.h"

bool receipts_set_up(void);
static bool set_up(const beehive_context *context) { return context != 0 && receipts_set_up(); }
MODULE(receipts, set_up, "");
