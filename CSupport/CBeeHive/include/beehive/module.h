/* What a module written in C can do.
 *
 *   static bool set_up(const beehive_context *context) { return open_device(); }
 *   static const beehive_module_operations audio_operations = { .set_up = set_up };
 *   BEEHIVE_MODULE(audio, &audio_operations, BEEHIVE_PRIORITY(10));
 */
#ifndef BEEHIVE_MODULE_H
#define BEEHIVE_MODULE_H

#include "context.h"

#define BEEHIVE_MODULE_TABLE_VERSION 1

BEEHIVE_C_BEGIN

/* In the order in which a host calls them; a null one is passed over. False is failure.
 *
 * What set_up begins, unmount ends; what initialize begins, tear_down ends. A module that leaves before it was
 * initialized is unmounted, and not torn down.
 *
 * The calls of one module never overlap, except `event`, which may come while another is inside it;
 * each may come on another thread, and none with a lock of the host's held. They may block: a host
 * gives them threads of their own. Where the host has a limit of time, a call that is past it has failed and is not
 * waited for: the next one may overlap it. */
typedef struct beehive_module_operations {
  bool (*set_up)(const beehive_context *context);
  bool (*initialize)(const beehive_context *context);
  bool (*splash)(const beehive_context *context);
  bool (*event)(const beehive_context *context, const beehive_event *event);
  void (*tear_down)(const beehive_context *context);
  void (*unmount)(const beehive_context *context);
} beehive_module_operations;

/* What the context of a record with `abi=c-module` points to. BEEHIVE_MODULE writes it: a host
 * that knows more operations than the module's compiler did sees that from `operations_size`, and
 * the author's initialiser stays free of bookkeeping. */
typedef struct beehive_module_table {
  uint32_t size;
  uint32_t version;
  size_t operations_size;
  const beehive_module_operations *operations;
} beehive_module_table;

BEEHIVE_C_END

#endif
