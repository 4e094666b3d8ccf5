/* The runtime from C: for hosts that never name Swift. Link with -lBeeHive.
 *
 *   #include <beehive/runtime.h>
 *   beehive_options options = BEEHIVE_OPTIONS;
 *   options.environment = "test";
 *   if (!beehive_start_with(&options)) fputs(beehive_last_error(), stderr);
 *   const struct greeter *greeter = BEEHIVE_SERVICE_TABLE(Greeter, struct greeter);
 *
 * Every function may be called from any thread. In a constructor or destructor of an image, and in a callback of
 * dl_iterate_phdr, the thread has a lock of the loader: what waits there for somebody who needs it fails after some
 * seconds, and goes on.
 * A thread that is cancelled in a call ends after it; those of the Hive are never cancelled.
 * Code that the Hive calls must not wait for a thread that calls the Hive, which may wait for that code. Those
 * that answer null or false have said why in beehive_last_error. What waits needs one thread, and the first call on
 * the main thread three descriptors: without them it fails. Limits of time hold only while the system gives threads.
 * Not part of BeeHive.h: authors of plugins need no runtime to link with. */
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
  const char *reason; /* why it is not bound or does not run, or what failed in its start; or null */
  uint64_t number;    /* tells it from all others of this process: for beehive_remove */
} beehive_entry;

/* What becomes of the other modules when one fails, or takes longer than it may. */
enum {
  BEEHIVE_ON_FAILURE_STOP = 0,    /* all that was started is torn down, and the start fails */
  BEEHIVE_ON_FAILURE_SKIP = 1,    /* the module is left out, with those that require it */
  BEEHIVE_ON_FAILURE_CONTINUE = 2 /* its entry has the failure, and all others start */
};

#define BEEHIVE_OPTIONS_VERSION 1

/* How modules are started and told of their host. It begins as BEEHIVE_OPTIONS. Its texts are copied;
 * what `custom` leads to must live until the stop. */
typedef struct beehive_options {
  uint32_t size;
  uint32_t version;
  const char *environment;      /* context->environment; null for "production" */
  const char *const *arguments; /* context->arguments; null for those of the process */
  size_t argument_count;
  void *custom;                /* context->custom */
  const char *const *disabled; /* names of modules that do not start, as in BEEHIVE_DISABLE */
  size_t disabled_count;
  uint32_t on_failure;    /* BEEHIVE_ON_FAILURE_… */
  uint32_t flags;         /* 0 */
  double time_limit;      /* seconds that a step or an event of a module may take; 0: as long as it likes */
  double tear_down_limit; /* seconds that the end of beehive_run may take; 0: 25, the usual ones */
} beehive_options;

#define BEEHIVE_OPTIONS                                                                       \
  {                                                                                           \
    sizeof(beehive_options), BEEHIVE_OPTIONS_VERSION, BEEHIVE_NULL, BEEHIVE_NULL, 0,          \
        BEEHIVE_NULL, BEEHIVE_NULL, 0, BEEHIVE_ON_FAILURE_STOP, 0, 0, 0                       \
  }

/* Starts every module in its declared order and waits for it. True, and nothing more, where they run
 * already. */
bool beehive_start(void);

/* The same with options; null for the usual ones. */
bool beehive_start_with(const beehive_options *options);

/* Starts the modules of libraries that were opened since the start, as far as they can be; false where
 * one of them failed or lacks what it requires, or no Hive runs. Nothing starts them by itself, but for
 * the registration of a further module. The next start takes them as all others. */
bool beehive_start_latecomers(void);

/* Starts every module, waits until SIGTERM, SIGINT or beehive_stop, tells the modules that the process
 * ends, and tears them down; at once after a beehive_stop that had nothing to stop. True where all of
 * that went well: the status of main. What on_failure lets pass is no failure. False too where tear_down_limit is over
 * while a module has not come back: end the process then, for a start or a stop waits for that module. */
bool beehive_run(const beehive_options *options);

/* Tears every module down, in reverse order, and waits for it. False where one of them failed. Inside of a step it
 * is true at once, and the modules are torn down after that: never if the step calls exit(). Inside of an event it
 * does not wait for that event.
 *
 * Objects that factories of singletons and weak services made are given to their `destroy`: what beehive_service
 * has returned of these must not be used any more. An object made for one request is still given back by
 * beehive_destroy. */
bool beehive_stop(void);

/* The C table or object that is registered as this service; null where there is none, or its table
 * is smaller than `size`. Its library stays loaded, whoever closes it. */
const void *beehive_service(const char *service, size_t size);

/* The one that is registered under a name of its own: BEEHIVE_NAME. Where `name` is null, the one without
 * such a name, and where each has one, the first by priority. */
const void *beehive_service_named(const char *service, const char *name, size_t size);

/* beehive_service by the name and the type of its structure. */
#define BEEHIVE_SERVICE_TABLE(service, type) \
  BEEHIVE_CAST(const type *, beehive_service(#service, sizeof(type)))

/* Gives back what a factory made for one request, or one of the requests that share the instance of
 * BEEHIVE_SCOPE("weak"): the last one destroys it. False where no factory of that service and name has
 * made it, or it was given back. True for a table that has overridden the service, which stays as it is. Null for `name` is
 * any. */
bool beehive_destroy(const char *service, const char *name, const void *object);

/* A context of its own for scoped services: one session, one request, one document. Each factory with
 * BEEHIVE_SCOPE("scoped") makes one object for it, which its end destroys. */
typedef struct beehive_scope beehive_scope;

/* A new scope, as part of `outer`, or of none where that is null. Each is given to beehive_scope_end
 * once, and is not used after that. */
beehive_scope *beehive_scope_begin(beehive_scope *outer);

/* As beehive_service_named; scoped services are those of the scope, others are given back as ever. What a
 * factory of it asks its context for comes from the scope too. */
const void *beehive_scope_service(beehive_scope *scope, const char *service, const char *name,
                                  size_t size);

/* Ends the scopes within this one, then destroys what it made, the latest first. Libraries stay loaded
 * until then, also where the Hive was stopped. One that another thread is ending is not waited for. Null
 * is nothing. Give a scope that its outer one has ended to this, too: some 560 bytes are kept until then. */
void beehive_scope_end(beehive_scope *scope);

/* Calls `visit` for each thing that is wrong and belongs to no entry, until it answers false: images that
 * could not be read, names that are switched off and that no module has; before a start, requirements that
 * no module meets and cycles, which are reasons of entries after it. Returns how many were visited. */
size_t beehive_remarks(bool (*visit)(const char *remark, void *context), void *context);

/* Calls `visit` for every entry until it answers false; how many were visited. Whether a route's
 * types are defined and a target's table has its actions is known once code in Swift has used routing:
 * until then these entries are bound. */
size_t beehive_entries(bool (*visit)(const beehive_entry *entry, void *context), void *context);

/* Tells every module that runs of an event, and waits. `number` is 1000 or more; `payload` is copied.
 * True where at least one module has handled it. */
bool beehive_trigger(int64_t number, const char *name, const void *payload, size_t payload_size);

/* Registers a table of functions as a service; it must live as long as the process. A table keeps
 * some 130 bytes for good, however often it is registered. */
bool beehive_register_service_at(const char *service, const char *implementation,
                                 const void *table, size_t table_size, const char *file,
                                 uint32_t line);
#define beehive_register_service(service, implementation, table)                          \
  beehive_register_service_at(service, implementation, table, sizeof(*(table)), __FILE__, \
                              (uint32_t)__LINE__)

/* Removes every service of exactly this name; false where there is none. Their library stays loaded. What its
 * factory made for one request each is given back by beehive_destroy as before. */
bool beehive_unregister_service(const char *service);

/* The same of those that have this given name: BEEHIVE_NAME. Null is any. */
bool beehive_unregister_service_named(const char *service, const char *name);

/* Registers a module; `operations` must live as long as the process. Where the Hive runs already, the
 * module is started at once; false where that fails, and it stays registered. A table
 * of operations keeps some 130 bytes for good, however often it is registered. */
bool beehive_register_module_at(const char *name, const beehive_module_operations *operations,
                                size_t operations_size, const char *file, uint32_t line);
#define beehive_register_module(name, operations)                                         \
  beehive_register_module_at(name, operations, sizeof(beehive_module_operations), __FILE__, \
                             (uint32_t)__LINE__)

/* Tears one module down and removes it; false where there is none. */
bool beehive_unregister_module(const char *name);

/* Removes one entry by its number, whatever registered or declared it: a module is torn down first. False where it
 * is not there any more. */
bool beehive_remove(uint64_t number);

/* Removes everything that a library declares: its modules are torn down, its services removed, and its names are
 * free. It stays loaded, so opening it again registers nothing: open a new build from a file of another name.
 * `path` is its path as it was opened, or the end of that, libshop.so, which means all that end so. False where no such
 * library has registered. */
bool beehive_remove_image(const char *path);

/* Replaces one library by a new build: opens the file, gives it the places of the old entries at once, tears the
 * old modules down, and starts the new ones if the Hive runs. Once these have started, what singletons and weak
 * services of the old build made is given to their `destroy`, and must not be used any more: not by others either,
 * who may have looked it up before; they are not told. If a step fails the old build goes on with what it made,
 * its modules started anew; false is answered, and beehive_last_error says why. Between the two builds no module
 * of the library hears events. `path` is that of beehive_remove_image; null for `file` is the file that is at the
 * path of the library now: open it by a whole path in a program that changes its working directory. Put it there
 * by renaming it, for the file of the old build stays in use. beehive_remarks says who still has something of the
 * old build. False in a module of the library, and in a start or stop; where a module that runs requires or needs
 * what the new build lacks; and where the loader leads a record of the new build into the old one: make tables and
 * functions static or hidden, or open libraries without RTLD_GLOBAL. */
bool beehive_replace_with(const char *path, const char *file);
#define beehive_replace(path) beehive_replace_with(path, BEEHIVE_NULL)

/* Has a table answer for a service, whatever else would, for all who ask from now on, until it is called with a
 * null table: for tests. `name` is a given name, or null; `table` must live until then, and as long as what was made
 * meanwhile and looked it up: a singleton until the stop. A table keeps some 130 bytes for good,
 * as with a registration. beehive_remarks says which hide nothing that is declared: a name may be mistyped. */
bool beehive_override_at(const char *service, const char *name, const void *table, size_t table_size,
                         const char *file, uint32_t line);
#define beehive_override(service, name, table) \
  beehive_override_at(service, name, table, sizeof(*(table)), __FILE__, (uint32_t)__LINE__)
#define beehive_override_end(service, name) \
  beehive_override_at(service, name, BEEHIVE_NULL, 0, __FILE__, (uint32_t)__LINE__)

/* Why the last call of this thread failed; "" where none did. Valid until its next call. */
const char *beehive_last_error(void);

BEEHIVE_C_END

#endif
