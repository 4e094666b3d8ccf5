/* Declares the module of ledger.swift. */
#include "plugin.h"

bool ledger_set_up(void);
static bool set_up(const beehive_context *context) { return context != 0 && ledger_set_up(); }
MODULE(ledger, set_up, BEEHIVE_REQUIRES("receipts"));
