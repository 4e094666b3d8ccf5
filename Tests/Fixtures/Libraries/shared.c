// Objects in C that have two names each: one that goes with its last holder, and two whose declarations differ.
#include <BeeHive.h>
static int made, gone;
static void *create(const beehive_context *context) { made++; return &made; }
static void *other(const beehive_context *context) { return &gone; }
static void destroy(void *object) { gone++; }
#define WEAK BEEHIVE_SCOPE("weak") BEEHIVE_SHARED
BEEHIVE_SERVICE_FACTORY(Reader, Disk, create, destroy, WEAK);
BEEHIVE_SERVICE_FACTORY(Writer, Disk, create, destroy, WEAK);
BEEHIVE_SERVICE_FACTORY(Player, Tape, create, destroy, WEAK);
BEEHIVE_SERVICE_FACTORY(Recorder, Tape, other, destroy, WEAK);
BEEHIVE_SERVICE_FACTORY(Sender, Line, create, destroy, WEAK);
BEEHIVE_SERVICE_FACTORY(Receiver, Line, create, destroy, BEEHIVE_SCOPE("singleton") BEEHIVE_SHARED);
int counts(void) { return made * 10 + gone; }
