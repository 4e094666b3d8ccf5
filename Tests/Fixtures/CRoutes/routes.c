#include "CRoutes.h"

#include <BeeHive.h>
#include <stdio.h>
#include <string.h>

void c_routes_link(void) {}

static bool stock(const beehive_call *call, beehive_reply *reply) {
  const char *sku = beehive_text(call, "sku");
  if (!sku) {
    beehive_reply_text(reply, "no sku");
    return false;
  }
  beehive_reply_integer(reply, (int64_t)strlen(sku) * beehive_integer(call, "count", 1));
  return true;
}

// Says what it was told, in a buffer that is gone when the host reads the reply.
static bool echo(const beehive_call *call, beehive_reply *reply) {
  char line[256];
  int used = snprintf(line, sizeof line, "%s %s%s", call->name, call->is_remote ? "remote " : "",
                      call->url ? call->url : "-");
  for (uint32_t i = 0; i < call->argument_count; i++) {
    const beehive_argument *argument = &call->arguments[i];
    const char *text = argument->value.text ? argument->value.text : "";
    used += snprintf(line + used, sizeof line - (size_t)used, " %s:%u=%s%lld/%g", argument->name,
                     argument->value.kind, text, (long long)argument->value.integer,
                     argument->value.number);
  }
  beehive_reply_text(reply, line);
  return true;
}

// Says each value of what it is given.
static bool values(const beehive_call *call, beehive_reply *reply) {
  char line[256];
  int used = 0;
  for (uint32_t i = 0; i < call->argument_count; i++) {
    uint32_t count;
    const char *name = call->arguments[i].name;
    const beehive_argument *each = beehive_call_values(call, name, &count);
    used += snprintf(line + used, sizeof line - (size_t)used, " %s", name);
    for (uint32_t j = 0; j < count; j++)
      used += snprintf(line + used, sizeof line - (size_t)used, ":%u=%s%lld", each[j].value.kind,
                       each[j].value.text ? each[j].value.text : "",
                       (long long)each[j].value.integer);
  }
  beehive_reply_text(reply, line);
  return true;
}

static bool garbled(const beehive_call *call, beehive_reply *reply) {
  (void)call;
  beehive_reply_text(reply, "caf\xe9");
  return true;
}

static bool nothing(const beehive_call *call, beehive_reply *reply) {
  (void)call, (void)reply;
  return true;
}

static const beehive_action c_shop_actions[] = {
    {"stock", stock}, {"echo", echo}, {"nothing", nothing}, {"lie", echo}, {"forget", nothing}};
BEEHIVE_TARGET(c_shop, c_shop_actions,
               BEEHIVE_ACTION("remote stock(sku: String, count: Int = 1) throws -> Int")
                   BEEHIVE_ACTION("echo(a: Bool, b: Double?, c: String = \"x\") -> String")
                       BEEHIVE_ACTION("nothing()") BEEHIVE_ACTION("lie() -> Int")
                           BEEHIVE_ACTION("forget() -> String"));

BEEHIVE_ROUTE("croutes://stock/:sku?count<Int>", stock, BEEHIVE_REMOTE BEEHIVE_RETURNS("Int"));
BEEHIVE_ROUTE("croutes://echo/:n<Int>/*", echo, BEEHIVE_PRIORITY(1));
BEEHIVE_ROUTE("croutes://values/:n<Int>/*rest?tag&*", values);
BEEHIVE_ROUTE("croutes://garbled", garbled);
BEEHIVE_ROUTE("croutes://files", echo, BEEHIVE_MATCH("prefix"));
BEEHIVE_ROUTE("croutes://open?*", echo, BEEHIVE_MATCH("prefix"));
// These cannot be, each for its own reason.
BEEHIVE_ROUTE("croutes://twin/:first", stock);
BEEHIVE_ROUTE("croutes://twin/:second", stock);
BEEHIVE_ROUTE("croutes://:", stock);
BEEHIVE_ROUTE("croutes://gone/:id", stock, BEEHIVE_RETURNS("Page"));
BEEHIVE_TARGET(c_odd, c_shop_actions, BEEHIVE_ACTION("echo(a: Page)"));
BEEHIVE_TARGET(c_page, c_shop_actions, BEEHIVE_ACTION("echo() -> Page"));
BEEHIVE_TARGET(c_lost, c_shop_actions, BEEHIVE_ACTION("stock()") BEEHIVE_ACTION("absent()"));
