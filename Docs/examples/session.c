/* What Docs/services.md shows of factories in C, as a program. */
#include <BeeHive.h>
#include <beehive/runtime.h>
#include <stdio.h>
#include <stdlib.h>

struct session { int number; };

static void *create(const beehive_context *context) {
  (void)context;
  struct session *session = malloc(sizeof *session);
  if (session) session->number = 7;
  return session;
}

static void destroy(void *session) {
  printf("session %d ends\n", ((struct session *)session)->number);
  free(session);
}

BEEHIVE_SERVICE_FACTORY(Session, DiskSession, create, destroy, BEEHIVE_SCOPE("scoped"));

static void *open_disk(const beehive_context *context) {
  (void)context;
  return malloc(1);
}

static void close_disk(void *disk) { free(disk); }

BEEHIVE_SERVICE_FACTORY(Reader, Disk, open_disk, close_disk, BEEHIVE_SCOPE("weak") BEEHIVE_SHARED);
BEEHIVE_SERVICE_FACTORY(Writer, Disk, open_disk, close_disk, BEEHIVE_SCOPE("weak") BEEHIVE_SHARED);

int main(void) {
  if (!beehive_start()) return fprintf(stderr, "%s\n", beehive_last_error()), 1;
  beehive_scope *scope = beehive_scope_begin(NULL);
  const struct session *session = beehive_scope_service(scope, "Session", NULL, sizeof *session);
  if (!session) return fprintf(stderr, "%s\n", beehive_last_error()), 1;
  printf("session %d\n", session->number);
  beehive_scope_end(scope);   /* calls destroy */
  return beehive_stop() ? 0 : 1;
}
