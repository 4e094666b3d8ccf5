/* A C plugin. It calls nothing of ours and exports nothing; its last line declares its entry. */
#include <BeeHive.h>
#include <CContracts.h>

static int64_t ten_percent_off(int64_t cents) { return cents - cents / 10; }
static const struct discount ten_percent = {.apply = ten_percent_off};
BEEHIVE_SERVICE(Discount, TenPercent, &ten_percent);
