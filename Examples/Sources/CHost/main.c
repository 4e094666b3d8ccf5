/* A host in C. It links libBeeHive.so and never names Swift: it opens the C libraries, starts their
 * modules, calls their services, and takes part itself. */
#include <CContracts.h>
#include <beehive/runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, beehive_last_error());
  return EXIT_FAILURE;
}

/* A module of the host's own: it counts what is sold. */
static int64_t sold;
static bool open_counter(const beehive_context *context) {
  printf("  counter: open in %s, for %s\n", context->environment,
         context->argument_count > 1 ? context->arguments[1] : "everybody");
  return true;
}
static bool note(const beehive_context *context, const beehive_event *event) {
  (void)context;
  if (event->payload_size != sizeof sold) return false; /* not the counter's business */
  sold += *(const int64_t *)event->payload;
  printf("  counter: event %lld, %s\n", (long long)event->number, event->name);
  return true;
}
static void close_counter(const beehive_context *context) {
  (void)context;
  printf("  counter: closed after %lld ct\n", (long long)sold);
}
static const beehive_module_operations counter = {
    .set_up = open_counter, .event = note, .tear_down = close_counter};

static int64_t half_price(int64_t cents) { return cents / 2; }
static const struct discount sale = {.apply = half_price};

static bool list(const beehive_entry *entry, void *context) {
  static const char *const states[] = {"bound", "unbound", "rejected", "disabled"};
  (void)context;
  printf("  %-8s %-7s %s, %s%s%s\n", states[entry->state], entry->kind, entry->name, entry->source,
         entry->reason ? ": " : "", entry->reason ? entry->reason : "");
  return true; /* false ends the list here */
}

int main(void) {
  static const char *const plugins[] = {"libStore.so", "libDiscounts.so"};
  for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
    if (dlopen(plugins[i], RTLD_NOW | RTLD_LOCAL)) continue;
    fprintf(stderr, "%s\n", dlerror());
    return EXIT_FAILURE;
  }
  if (!beehive_register_module("counter", &counter)) return failed("counter");

  /* A second service of the same name and priority is refused. The reason names both locations. */
  if (beehive_register_service("Discount", "Sale", &sale)) return EXIT_FAILURE;
  printf("Refused: %s\n", beehive_last_error());
  beehive_unregister_service("Discount");
  if (!beehive_register_service("Discount", "Sale", &sale)) return failed("sale");

  printf("Started:\n");
  if (!beehive_start()) return failed("start");
  const struct price_list *prices = BEEHIVE_SERVICE_TABLE(PriceList, struct price_list);
  const struct discount *discount = BEEHIVE_SERVICE_TABLE(Discount, struct discount);
  if (!prices || !discount) return failed("services");
  const int64_t price = discount->apply(prices->cents("tea"));
  if (!beehive_trigger(1000, "sold", &price, sizeof price)) return failed("sold");

  printf("What there is:\n");
  beehive_entries(list, NULL);
  if (!BEEHIVE_SERVICE_TABLE(Coffee, struct price_list))
    printf("No coffee: %s\n", beehive_last_error());
  if (!beehive_unregister_module("counter")) return failed("counter");
  return beehive_stop() ? EXIT_SUCCESS : failed("stop");
}
