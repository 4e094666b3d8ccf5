// Modules written in C, for tests of how a Hive runs them.
#ifndef BEEHIVE_TESTS_CMODULES_H
#define BEEHIVE_TESTS_CMODULES_H

#include <BeeHive.h>

/// Whoever wants to hear what the modules do; one word for each call.
void c_module_listen(void (*_Nonnull journal)(const char *_Nonnull));

/// Everything goes well.
const beehive_module_operations *_Nonnull c_module_recorder(void);
/// `initialize` answers false.
const beehive_module_operations *_Nonnull c_module_refuser(void);
/// `set_up` keeps its thread until `c_module_wake`.
const beehive_module_operations *_Nonnull c_module_sleeper(void);
void c_module_wake(void);
/// Has no operation at all.
const beehive_module_operations *_Nonnull c_module_empty(void);

/// Room for the table of a module, in this image as an author's would be; it is never given back.
beehive_module_table *_Nonnull c_module_table(void);

/// The size of a table that an author's older header wrote: up to and with `set_up`.
static const size_t c_module_older_size = sizeof(void *);

#endif
