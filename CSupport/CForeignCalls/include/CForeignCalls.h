/* Calls of functions in C or C++ that a library or the host brings.
 *
 * Such a function can only return. An exception that no frame of its own catches ends the process by std::terminate.
 * The end of its thread (pthread_exit, cancellation) ends it by abort(). Each leaves a line on stderr that names the
 * function. Otherwise the Hive would wait for its end for ever. longjmp unwinds nothing, and is not noticed.
 */
#ifndef BEEHIVE_C_FOREIGN_CALLS_H
#define BEEHIVE_C_FOREIGN_CALLS_H

#include <BeeHive.h>
#include <beehive/runtime.h>
#include <stdbool.h>

/* A step of a module. The last step returns nothing, and may be null. */
bool beehive_call_step(
    bool (*step)(const beehive_context *context), const beehive_context *context);
void beehive_call_last_step(
    void (*step)(const beehive_context *context), const beehive_context *context);

/* A module's receiver of events. */
bool beehive_call_event(
    bool (*handle)(const beehive_context *context, const beehive_event *event),
    const beehive_context *context, const beehive_event *event);

/* The two functions of a factory. The second may be null. */
void *beehive_call_create(
    void *(*create)(const beehive_context *context), const beehive_context *context);
void beehive_call_destroy(void (*destroy)(void *object), void *object);

/* The visitors of entries and of remarks. */
bool beehive_call_entry_visit(
    bool (*visit)(const beehive_entry *entry, void *context), const beehive_entry *entry,
    void *context);
bool beehive_call_remark_visit(
    bool (*visit)(const char *remark, void *context), const char *remark, void *context);

/* The function of an action or a route. */
bool beehive_call_perform(beehive_perform perform, const beehive_call *call, beehive_reply *reply);

#endif
