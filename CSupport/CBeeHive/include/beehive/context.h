/* What a host tells the functions it calls.
 *
 *   static bool set_up(const beehive_context *context) {
 *     const struct log *log = beehive_context_service(context, "Log", NULL, sizeof(struct log));
 *     if (strcmp(context->environment, "test") == 0) return beehive_context_fail(context, "not in tests");
 *     return log != NULL;
 *   }
 *
 * Structures begin with their size and grow at the end: a field past `size` is not there. */
#ifndef BEEHIVE_CONTEXT_H
#define BEEHIVE_CONTEXT_H

#include "portability.h"

#define BEEHIVE_CONTEXT_VERSION 1
#define BEEHIVE_EVENT_VERSION 1

BEEHIVE_C_BEGIN

/* Valid during the call; an author who needs something later copies it. */
typedef struct beehive_context {
  uint32_t size;
  uint32_t version;
  void *hive;              /* what the functions below are given; opaque */
  const char *environment; /* "production", "test", … ; never null */
  const char *const *arguments;
  size_t argument_count;
  void *custom; /* whatever this host and its modules agreed upon; may be null */
  /* As beehive_service_named and beehive_destroy of runtime.h, for the Hive that calls. */
  const void *(*service)(void *hive, const char *service, const char *name, size_t size);
  bool (*destroy)(void *hive, const char *service, const char *name, const void *object);
  bool (*fail)(void *hive, const char *reason);
} beehive_context;

/* Something that happened, in the host or in another module. */
typedef struct beehive_event {
  uint32_t size;
  uint32_t version;
  int64_t number;
  const char *name; /* never null */
  const void *payload;
  size_t payload_size;
} beehive_event;

/* The C table or object that is registered as this service of the Hive that calls, by name as
 * beehive_service_named of runtime.h. Null where there is none, its table is smaller than `size`, or the host
 * is older than this function. Needs no library to link with. */
static inline const void *beehive_context_service(const beehive_context *context,
                                                  const char *service, const char *name,
                                                  size_t size) {
  if (context->size < offsetof(beehive_context, destroy)) return BEEHIVE_NULL;
  return context->service(context->hive, service, name, size);
}

/* Gives back what a factory made for one request, as beehive_destroy of runtime.h; false also where the
 * host is older than this function. */
static inline bool beehive_context_destroy(const beehive_context *context, const char *service,
                                           const char *name, const void *object) {
  if (context->size < offsetof(beehive_context, destroy) + sizeof(context->destroy)) return false;
  return context->destroy(context->hive, service, name, object);
}

/* Says why a step answers false, or a factory null: reports and errors have it. The text is
 * copied. Always false: `return beehive_context_fail(context, "no database");` */
static inline bool beehive_context_fail(const beehive_context *context, const char *reason) {
  if (context->size < offsetof(beehive_context, fail) + sizeof(context->fail)) return false;
  return context->fail(context->hive, reason);
}

BEEHIVE_C_END

#endif
