/* A library that has never heard of our headers: each entry is a pointer in a section of a known name. `retain`
 * keeps the pointers through --gc-sections, which release builds pass. */
#define ENTRY_IN(name) __attribute__((used, retain, aligned(8), section(name)))

/* Bound as soon as the plugin that has this type is there. */
static const char *const receipt ENTRY_IN("BeehiveServices") =
    "{ \"Contracts.Receipt\" : \"Greetings.TillSlip\" }";

/* Unbound: nobody has such a type. The entry waits. */
static const char *const drawer ENTRY_IN("BeehiveMods") = "OldTill.CashDrawer";

/* Rejected: both types are there, but a price tag greets nobody. */
static const char *const mistake ENTRY_IN("BeehiveServices") =
    "{ \"Contracts.Greeter\" : \"Contracts.PriceTag\" }";
