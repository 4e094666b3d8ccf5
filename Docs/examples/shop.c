/* A target and a route in C, as the guide CallByNameAndURL.md shows them. */
#include <BeeHive.h>

static bool count(const beehive_call *call, beehive_reply *reply) {
  const char *sku = beehive_text(call, "sku");
  beehive_reply_integer(reply, sku && sku[0] == 'a' ? 3 : 0);
  return true;
}
static const beehive_action stock_actions[] = {{"count", count}};
BEEHIVE_TARGET(stock, stock_actions, BEEHIVE_ACTION("remote count(sku: String) -> Int"));
BEEHIVE_ROUTE("app://stock/:sku", count, BEEHIVE_REMOTE BEEHIVE_RETURNS("Int"));
