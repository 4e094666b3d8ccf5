// Declared with the header alone; no host and no router has seen them.
#include <BeeHive.h>
static bool answer(const beehive_call *call, beehive_reply *reply) { return call && reply; }
static const beehive_action shop_actions[] = {{"stock", answer}, {"open", answer}};
BEEHIVE_TARGET(shop, shop_actions,
               BEEHIVE_ACTION("remote stock(sku: String, count: Int = 1) throws -> Int")
               BEEHIVE_ACTION("open(page: String?, times: Int)"));
BEEHIVE_ROUTE("app://shop/:id<Int>(/:tab)?from&page<Int>=1", answer,
              BEEHIVE_REMOTE BEEHIVE_PRIORITY(3) BEEHIVE_RETURNS("String"));
BEEHIVE_ROUTE("app://files", answer, BEEHIVE_MATCH("prefix"));
