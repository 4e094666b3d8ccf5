/* The runtime from C: for hosts that never name Swift. Link with -lBeeHive.
 *
 *   #include <beehive/runtime.h>
 *   if (!beehive_start()) fputs(beehive_last_error(), stderr);
 *   const struct greeter *greeter = BEEHIVE_SERVICE_TABLE(Greeter, struct greeter);
 *
 * Every function may be called from any thread, except from a constructor of an image and from
 * inside a dl_iterate_phdr callback. Those that answer null or false have said why in
 * beehive_last_error. Not part of BeeHive.h: authors of plugins need no runtime to link with. */
#ifndef BEEHIVE_RUNTIME_H
#define BEEHIVE_RUNTIME_H

#include "module.h"
#include "service.h"

BEEHIVE_C_BEGIN

/* How far an entry got. */
enum {
  BEEHIVE_ENTRY_BOUND = 0,    /* something makes it */
  BEEHIVE_ENTRY_ACCEPTED = 1, /* well formed, but nothing makes it yet */
  BEEHIVE_ENTRY_REJECTED = 2, /* malformed, a duplicate, or unfit */
  BEEHIVE_ENTRY_DISABLED = 3  /* a module that is switched off by name */
};

/* One declared module or service; the texts are valid during the visit. */
typedef struct beehive_entry {
  uint32_t size;
  uint32_t state;
  const char *kind;           /* "module", "service", … */
  const char *name;           /* never null */
  const char *implementation; /* null where the entry names nothing */
  const char *source;         /* "libshop.so BeehiveRecords[1]" */
  const char *reason;         /* why it is not bound, or does not run; null where nothing is wrong */
} beehive_entry;

/* Starts every module in its declared order and waits for it. */
bool beehive_start(void);

/* Tears every module down, in reverse order, and waits for it. False where one of them failed. */
bool beehive_stop(void);

/* The C table or object that is registered as this service; null where there is none, or its table
 * is smaller than `size`. Its library stays loaded from then on. */
const void *beehive_service(const char *service, size_t size);

/* beehive_service by the name and the type of its structure. */
#define BEEHIVE_SERVICE_TABLE(service, type) \
  ((const type *)beehive_service(#service, sizeof(type)))

/* Calls `visit` for every entry until it answers false; how many were visited. */
size_t beehive_entries(bool (*visit)(const beehive_entry *entry, void *context), void *context);

/* Tells every module that runs of an event, and waits. `number` is 1000 or more; `payload` is copied.
 * True where at least one module has handled it. */
bool beehive_trigger(int64_t number, const char *name, const void *payload, size_t payload_size);

/* Registers a table of functions as a service; it must live as long as the process. */
bool beehive_register_service_at(const char *service, const char *implementation,
                                 const void *table, size_t table_size, const char *file,
                                 uint32_t line);
#define beehive_register_service(service, implementation, table)                          \
  beehive_register_service_at(service, implementation, table, sizeof(*(table)), __FILE__, \
                              (uint32_t)__LINE__)

/* Removes every service of this name; false where there is none. */
bool beehive_unregister_service(const char *service);

/* Registers a module; `operations` must live as long as the process. Where the Hive runs already, the
 * module is started at once. */
bool beehive_register_module_at(const char *name, const beehive_module_operations *operations,
                                size_t operations_size, const char *file, uint32_t line);
#define beehive_register_module(name, operations)                                         \
  beehive_register_module_at(name, operations, sizeof(beehive_module_operations), __FILE__, \
                             (uint32_t)__LINE__)

/* Tears one module down and removes it; false where there is none. */
bool beehive_unregister_module(const char *name);

/* Why the last call of this thread failed; "" where none did. Valid until its next call. */
const char *beehive_last_error(void);

BEEHIVE_C_END

#endif
