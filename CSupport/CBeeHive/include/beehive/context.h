/* What a host tells the functions it calls.
 *
 *   static bool set_up(const beehive_context *context) {
 *     return strcmp(context->environment, "production") == 0;
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
  void *hive;              /* whom to ask for services; opaque */
  const char *environment; /* "production", "test", … ; never null */
  const char *const *arguments;
  size_t argument_count;
  void *custom; /* whatever this host and its modules agreed upon; may be null */
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

BEEHIVE_C_END

#endif
