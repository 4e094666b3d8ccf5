/* A library that the host links: everything that a C author can declare with <BeeHive.h>. */
#include <BeeHive.h>
#include <CContracts.h>
#include <stdlib.h>
#include <string.h>

/* A module: functions that a host calls when it starts and stops. The host skips missing operations. */
static bool is_open;
static bool open_store(const beehive_context *context) {
  (void)context;
  return is_open = true; /* false would mean: it failed */
}
static void close_store(const beehive_context *context) {
  (void)context;
  is_open = false;
}
static const beehive_module_operations store_operations = {
    .set_up = open_store, .tear_down = close_store};
BEEHIVE_MODULE(store, &store_operations, BEEHIVE_PRIORITY(10) BEEHIVE_AFTER("log"));

/* A service that is a table of functions. There is one, for ever. */
static int64_t cents(const char *item) { return is_open && strcmp(item, "tea") == 0 ? 420 : -1; }
static const struct price_list prices = {.cents = cents};
BEEHIVE_SERVICE(PriceList, StorePrices, &prices);

/* A service from a factory: each caller gets an instance of its own, and gives it back. */
static void *draw_ticket(const beehive_context *context) {
  static _Atomic uint32_t drawn;
  struct queue_ticket *ticket = malloc(sizeof *ticket);
  if (ticket) ticket->number = ++drawn;
  (void)context;
  return ticket;
}
BEEHIVE_SERVICE_FACTORY(QueueTicket, PaperTicket, draw_ticket, free, BEEHIVE_SCOPE("transient"));
