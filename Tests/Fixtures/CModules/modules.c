#define _GNU_SOURCE
#include "CModules.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void (*journal)(const char *);

void c_module_listen(void (*listener)(const char *)) { journal = listener; }

static void write_down(const char *word) {
  if (journal) journal(word);
}

static bool set_up(const beehive_context *context) {
  char line[128];
  const char *argument = context->argument_count > 1 ? context->arguments[1] : "-";
  snprintf(line, sizeof line, "set_up %s %s", context->environment, argument);
  write_down(line);
  return context->hive != NULL && context->size == sizeof *context;
}

static bool initialize(const beehive_context *context) {
  (void)context;
  write_down("initialize");
  return true;
}

static bool refuse(const beehive_context *context) {
  write_down("refuse");
  return beehive_context_fail(context, "no tea left");
}

static bool splash(const beehive_context *context) {
  (void)context;
  write_down("splash");
  return true;
}

static bool event(const beehive_context *context, const beehive_event *event) {
  (void)context;
  char line[128];
  snprintf(line, sizeof line, "event %lld %s \"%.*s\"", (long long)event->number, event->name,
           (int)event->payload_size, event->payload ? (const char *)event->payload : "");
  write_down(line);
  return event->number == 1001;
}

static void tear_down(const beehive_context *context) {
  (void)context;
  write_down("tear_down");
}

static void unmount(const beehive_context *context) {
  (void)context;
  write_down("unmount");
}

static bool awake;

static bool sleep_until_woken(const beehive_context *context) {
  (void)context;
  while (!__atomic_load_n(&awake, __ATOMIC_ACQUIRE)) usleep(1000);
  return true;
}

void c_module_wake(void) { __atomic_store_n(&awake, true, __ATOMIC_RELEASE); }

static const beehive_module_operations recorder = {
    .set_up = set_up, .initialize = initialize, .splash = splash,
    .event = event,   .tear_down = tear_down,   .unmount = unmount};
static const beehive_module_operations refuser = {
    .set_up = set_up, .initialize = refuse, .tear_down = tear_down, .unmount = unmount};
static const beehive_module_operations sleeper = {.set_up = sleep_until_woken};
static const beehive_module_operations empty = {0};

const beehive_module_operations *c_module_recorder(void) { return &recorder; }
const beehive_module_operations *c_module_refuser(void) { return &refuser; }
const beehive_module_operations *c_module_sleeper(void) { return &sleeper; }
const beehive_module_operations *c_module_empty(void) { return &empty; }

beehive_module_table *c_module_table(void) {
  static beehive_module_table tables[256];
  static unsigned next;
  return &tables[__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % 256];
}
