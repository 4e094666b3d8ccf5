/* What a target and a route written in C can do.
 *
 *   static bool stock(const beehive_call *call, beehive_reply *reply) {
 *     beehive_reply_integer(reply, stock_of(beehive_text(call, "sku")));
 *     return true;
 *   }
 *   static const beehive_action shop_actions[] = {{"stock", stock}};
 *   BEEHIVE_TARGET(shop, shop_actions, BEEHIVE_ACTION("remote stock(sku: String) -> Int"));
 *   BEEHIVE_ROUTE("app://stock/:sku", stock, BEEHIVE_REMOTE);
 *
 * A call comes on any thread, and several may come at once. Declared types are String, Int, Double and
 * Bool, each with `?` or a default; the host has checked and converted the arguments. */
#ifndef BEEHIVE_ROUTING_H
#define BEEHIVE_ROUTING_H

#include "portability.h"

#define BEEHIVE_VALUE_NONE 0
#define BEEHIVE_VALUE_BOOL 1
#define BEEHIVE_VALUE_INTEGER 2
#define BEEHIVE_VALUE_NUMBER 3
#define BEEHIVE_VALUE_TEXT 4

#define BEEHIVE_CALL_VERSION 1
#define BEEHIVE_REPLY_VERSION 1
#define BEEHIVE_TARGET_TABLE_VERSION 1
#define BEEHIVE_ROUTE_TABLE_VERSION 1

BEEHIVE_C_BEGIN

/* One value; `kind` says which of the others holds it. */
typedef struct beehive_value {
  uint32_t kind;
  uint32_t text_size; /* without the NUL */
  int64_t integer;    /* of a bool too: 0 or 1 */
  double number;
  const char *text; /* NUL-terminated UTF-8, or null */
} beehive_value;

typedef struct beehive_argument {
  const char *name;
  beehive_value value;
} beehive_argument;

/* Valid during the call; an author who needs something later copies it. */
typedef struct beehive_call {
  uint32_t size;
  uint32_t version;
  const char *name; /* the action, or the route's pattern; never null */
  const char *url;  /* what was opened; null for a call by names */
  uint32_t is_remote;
  uint32_t argument_count;
  const beehive_argument *arguments; /* a missing optional one is not there */
  const beehive_argument *values;    /* see beehive_call_values */
  uint32_t value_count;
} beehive_call;

/* Where the answer goes; a route that gives none answers with nothing. */
typedef struct beehive_reply {
  uint32_t size;
  uint32_t version;
  void (*set)(struct beehive_reply *reply, const beehive_value *value); /* copies the value */
  void *host;
} beehive_reply;

/* False is failure; a text in the reply is the reason. A route that fails leaves the URL to the next
 * route that it meets. */
typedef bool (*beehive_perform)(const beehive_call *call, beehive_reply *reply);

typedef struct beehive_action {
  const char *name;
  beehive_perform perform;
} beehive_action;

/* What the context of a record with `abi=c-target` points to. `action_size` is what the author's
 * compiler saw: a host steps by it, whatever it knows of actions itself. */
typedef struct beehive_target_table {
  uint32_t size;
  uint32_t version;
  size_t action_size;
  size_t action_count;
  const beehive_action *actions;
} beehive_target_table;

/* What the context of a record with `abi=c-route` points to. */
typedef struct beehive_route_table {
  uint32_t size;
  uint32_t version;
  beehive_perform perform;
} beehive_route_table;

/* The first argument of this name, and how many in a row have it; null where there is none. */
static inline const beehive_argument *beehive_arguments_named(const beehive_argument *all,
                                                              uint32_t all_count, const char *name,
                                                              uint32_t *count) {
  const beehive_argument *first = BEEHIVE_NULL;
  *count = 0;
  for (uint32_t i = 0; i < all_count; i++) {
    const char *left = all[i].name, *right = name;
    while (*left && *left == *right) left++, right++;
    if (*left != *right) continue;
    if (!first) first = &all[i];
    ++*count;
  }
  return first;
}

/* The argument of this name; null where it is not given. One that has several values is one text here. */
static inline const beehive_value *beehive_argument_named(const beehive_call *call,
                                                          const char *name) {
  uint32_t count;
  const beehive_argument *found =
      beehive_arguments_named(call->arguments, call->argument_count, name, &count);
  return found ? &found->value : BEEHIVE_NULL;
}

/* Each value of an argument, as the first of `*count` in a row: of a key that the URL repeats, of the
 * segments of `*rest`, or the only one. Null where it is not given, or is empty. */
static inline const beehive_argument *beehive_call_values(const beehive_call *call,
                                                          const char *name, uint32_t *count) {
  /* An older host knows one value of each. */
  if (call->size < sizeof *call)
    return beehive_arguments_named(call->arguments, call->argument_count, name, count);
  return beehive_arguments_named(call->values, call->value_count, name, count);
}

/* The text of an argument; null where it is not given, no text, or given several times: see beehive_call_values. */
static inline const char *beehive_text(const beehive_call *call, const char *name) {
  const beehive_value *value = beehive_argument_named(call, name);
  return value ? value->text : BEEHIVE_NULL;
}

/* The integer of an argument; `missing` where it is not given. */
static inline int64_t beehive_integer(const beehive_call *call, const char *name,
                                      int64_t missing) {
  const beehive_value *value = beehive_argument_named(call, name);
  return value ? value->integer : missing;
}

static inline void beehive_reply_integer(beehive_reply *reply, int64_t integer) {
  beehive_value value = {BEEHIVE_VALUE_INTEGER, 0, integer, 0, BEEHIVE_NULL};
  reply->set(reply, &value);
}

static inline void beehive_reply_bool(beehive_reply *reply, bool truth) {
  beehive_value value = {BEEHIVE_VALUE_BOOL, 0, truth, 0, BEEHIVE_NULL};
  reply->set(reply, &value);
}

static inline void beehive_reply_number(beehive_reply *reply, double number) {
  beehive_value value = {BEEHIVE_VALUE_NUMBER, 0, 0, number, BEEHIVE_NULL};
  reply->set(reply, &value);
}

static inline void beehive_reply_text(beehive_reply *reply, const char *text) {
  beehive_value value = {BEEHIVE_VALUE_TEXT, 0, 0, 0, text};
  while (text[value.text_size]) value.text_size++;
  reply->set(reply, &value);
}

BEEHIVE_C_END

#endif
