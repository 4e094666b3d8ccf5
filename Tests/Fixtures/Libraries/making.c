// Services in C that each count how often they were made and destroyed, and some that cannot be made.
#include <BeeHive.h>
static int made, gone;
static void *create(const beehive_context *context) { made++; return &made; }
static void destroy(void *object) { gone++; }
static void *fail(const beehive_context *context) { return 0; }
static const struct speaker { int volume; } speaker;
BEEHIVE_SERVICE(Speaker, Loud, &speaker);
BEEHIVE_SERVICE_FACTORY(Session, Plain, create, destroy);
BEEHIVE_SERVICE_FACTORY(Cache, Kept, create, destroy, BEEHIVE_SCOPE("singleton"));
BEEHIVE_SERVICE_FACTORY(Disk, Full, fail, destroy);
/* What outlives every scope needs one that does not. */
static void *pool(const beehive_context *context) {
  return (void *)beehive_context_service(context, "Connection", 0, 0);
}
BEEHIVE_SERVICE_FACTORY(Connection, Plain, create, destroy, BEEHIVE_SCOPE("scoped"));
BEEHIVE_SERVICE_FACTORY(Pool, Strong, pool, destroy, BEEHIVE_SCOPE("singleton") BEEHIVE_NEEDS("Connection"));
BEEHIVE_SERVICE_FACTORY(Weak, Loose, pool, destroy, BEEHIVE_SCOPE("weak"));
int counts(void) { return made * 10 + gone; }
