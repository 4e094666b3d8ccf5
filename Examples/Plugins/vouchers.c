/* Calls a function of a library that it was not linked with. */
#include "plugin.h"

int print_voucher(int cents);

static bool print_one(const beehive_context *context) { return context && print_voucher(500); }
MODULE(vouchers, print_one, "");
