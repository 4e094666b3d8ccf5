/* One factory for each scope, and one that needs another: for the model of Examples/Tests/Fixtures/CModel, whose
 * functions the process that opens this passes in, since it exports none. */
#include <BeeHive.h>

struct made_hooks {
  void *(*make)(int kind);
  void (*destroy)(void *thing);
};
extern struct made_hooks made_hooks;
struct made_hooks made_hooks;

static void destroy(void *thing) { made_hooks.destroy(thing); }

/* As kinds of model.c. */
#define FACTORY(name, kind, scope, needed)                                                          \
  static void *make_##name(const beehive_context *context) {                                        \
    if (needed && !beehive_context_service(context, needed, BEEHIVE_NULL, 0)) return BEEHIVE_NULL; \
    return made_hooks.make(kind);                                                                   \
  }                                                                                                 \
  BEEHIVE_SERVICE_FACTORY(name, Made, make_##name, destroy, BEEHIVE_SCOPE(scope))

static const char *const nothing = BEEHIVE_NULL;
FACTORY(Single, 0, "singleton", nothing);
FACTORY(Pair, 1, "singleton", "Single");
FACTORY(Scoped, 2, "scoped", "Single");
FACTORY(Inner, 3, "scoped", "Scoped");
FACTORY(Weak, 4, "weak", nothing);
FACTORY(Each, 5, "transient", nothing);
