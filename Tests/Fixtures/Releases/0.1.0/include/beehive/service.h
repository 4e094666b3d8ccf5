/* The structures behind a service in C; the macros are in macros.h.
 *
 *   struct greeter { void (*greet)(const char *name); };   // host and author agree upon it
 *   static const struct greeter english = { .greet = greet_in_english };
 *   BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english);           // one, for ever
 *   BEEHIVE_SERVICE_FACTORY(Session, DiskSession, create, destroy); // one per request,
 *
 * With BEEHIVE_SCOPE behind it a factory makes less: "singleton", one for all until the host stops;
 * "weak", one for all until each request has been given back; "scoped", one for each scope.
 *
 * A factory says with BEEHIVE_NEEDS which services `create` looks up, each by its name without a given
 * one. Then `section-dump verify` sees in the files, and hive.validate() in a process, that a singleton
 * needs a scoped service, or that services need each other.
 *
 * One implementation of several services is one object if each of them says so: what `create`
 * returns is handed out as a Session and as a Store, and destroyed once.
 *
 *   BEEHIVE_SERVICE_FACTORY(Session, Disk, create, destroy, BEEHIVE_SCOPE("weak") BEEHIVE_SHARED);
 *   BEEHIVE_SERVICE_FACTORY(Store, Disk, create, destroy, BEEHIVE_SCOPE("weak") BEEHIVE_SHARED); */
#ifndef BEEHIVE_SERVICE_H
#define BEEHIVE_SERVICE_H

#include "context.h"

#define BEEHIVE_SERVICE_TABLE_VERSION 1
#define BEEHIVE_SERVICE_FACTORY_VERSION 1

BEEHIVE_C_BEGIN

/* What the context of a record with `abi=c-table` points to. `table_size` is what the author's
 * compiler saw: a host that expects a longer table refuses instead of reading past the end. */
typedef struct beehive_service_table {
  uint32_t size;
  uint32_t version;
  size_t table_size;
  const void *table;
} beehive_service_table;

/* What the context of a record with `abi=c-factory` points to. `create` answers null if it cannot;
 * `destroy` may be null if there is nothing to undo. Both run on the thread that asks for the
 * service or gives it back, several at a time unless it is a singleton, and with no lock of the
 * host's held. */
typedef struct beehive_service_factory {
  uint32_t size;
  uint32_t version;
  void *(*create)(const beehive_context *context);
  void (*destroy)(void *object);
} beehive_service_factory;

BEEHIVE_C_END

#endif
