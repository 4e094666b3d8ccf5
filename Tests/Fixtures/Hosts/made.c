/* One factory for each scope, and one that needs another: for the model of Examples/Tests/Fixtures/CModel, whose
 * functions the process that opens this passes in, since it exports none. */
#include <BeeHive.h>
#include <sched.h>

struct made_hooks {
  void *(*make)(int kind);
  void (*destroy)(void *thing);
};
extern struct made_hooks made_hooks;
struct made_hooks made_hooks;

/* Another thread may look up what a library declares before `dlopen` has returned to who passes them in. */
static struct made_hooks *hooks(void) {
  while (!__atomic_load_n(&made_hooks.make, __ATOMIC_ACQUIRE)) sched_yield();
  return &made_hooks;
}
static void destroy(void *thing) { hooks()->destroy(thing); }

/* As kinds of model.c. */
#define FACTORY(name, kind, scope, needed)                                                          \
  static void *make_##name(const beehive_context *context) {                                        \
    if (needed && !beehive_context_service(context, needed, BEEHIVE_NULL, 0)) return BEEHIVE_NULL; \
    return hooks()->make(kind);                                                                     \
  }                                                                                                 \
  BEEHIVE_SERVICE_FACTORY(name, Made, make_##name, destroy, BEEHIVE_SCOPE(scope))

static const char *const nothing = BEEHIVE_NULL;
FACTORY(Single, 0, "singleton", nothing);
FACTORY(Pair, 1, "singleton", "Single");
FACTORY(Scoped, 2, "scoped", "Single");
FACTORY(Inner, 3, "scoped", "Scoped");
FACTORY(Weak, 4, "weak", nothing);
FACTORY(Each, 5, "transient", nothing);
