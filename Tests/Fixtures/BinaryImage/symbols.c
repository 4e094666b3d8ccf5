// Slots that point to what has a name: here, elsewhere, a function that is chosen at load time, and nothing.
#define SLOT(name) __attribute__((used, retain, section("Slots"))) const void *const name
extern const char elsewhere[];
const char here[] = "here";
const char *here_too = here + 2;
static int chosen_one(void) { return 1; }
static int (*choose(void))(void) { return chosen_one; }
int chosen(void) __attribute__((ifunc("choose")));
SLOT(slot_a) = here;
SLOT(slot_b) = here + 2;
SLOT(slot_c) = elsewhere;
SLOT(slot_d) = (void *)chosen;
SLOT(slot_e) = 0;
