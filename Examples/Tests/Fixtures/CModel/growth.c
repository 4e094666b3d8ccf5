#define _GNU_SOURCE
#include "CModel.h"

#include <beehive/runtime.h>
#include <malloc.h>
#include <stdio.h>

static const int table = 1;
static bool visit_entry(const beehive_entry *entry, void *context) { return (void)context, entry->size > 0; }
static bool visit_remark(const char *remark, void *context) { return (void)context, remark != NULL; }
static bool heard(const beehive_context *context, const beehive_event *event) {
  (void)event;
  const void *each = beehive_context_service(context, "Each", NULL, 0);
  return each && beehive_context_destroy(context, "Each", NULL, each);
}
static const beehive_module_operations guest = {.event = heard};

static void look_up(unsigned i) { (void)i, beehive_service("Table", sizeof table); }
static void look_up_named(unsigned i) { (void)i, beehive_service_named("Table", NULL, sizeof table); }
static void singleton(unsigned i) { (void)i, beehive_service("Pair", 0); }
static void make_each(unsigned i) { (void)i, beehive_destroy("Each", NULL, beehive_service("Each", 0)); }
static void make_weak(unsigned i) { (void)i, beehive_destroy("Weak", NULL, beehive_service("Weak", 0)); }
static void miss(unsigned i) {
  char name[32];
  snprintf(name, sizeof name, "None%u", i);
  beehive_service(name, 0);
  beehive_destroy(name, NULL, &table);
  beehive_unregister_service_named(name, name);
  beehive_unregister_module(name);
  beehive_remove_image(name);
  beehive_remove(1ULL << 60 | i);
}
static void scope(unsigned i) {
  (void)i;
  beehive_scope *outer = beehive_scope_begin(NULL), *inner = beehive_scope_begin(outer);
  beehive_scope_service(inner, "Inner", NULL, 0);
  beehive_scope_end(inner);
  beehive_scope_end(outer);
}
static void visit(unsigned i) { (void)i, beehive_entries(visit_entry, NULL), beehive_remarks(visit_remark, NULL); }
static void override(unsigned i) {
  (void)i;
  beehive_override("Table", NULL, &table);
  beehive_service("Table", sizeof table);
  beehive_override_end("Table", NULL);
}
static void trigger(unsigned i) { beehive_trigger(1000 + i, "told", &table, sizeof table); }
static void start_again(unsigned i) { (void)i, beehive_start(), beehive_start_latecomers(); }
static void stop_and_start(unsigned i) {
  if (i % 10 == 0) beehive_stop(), beehive_start();
}
static void service(unsigned i) {
  char name[32];
  snprintf(name, sizeof name, "Service%u", i);
  beehive_register_service(name, "Growth", &table);
  beehive_service(name, sizeof table);
  beehive_unregister_service(name);
}
static void module(unsigned i) { (void)i, beehive_register_module("late", &guest), beehive_unregister_module("late"); }

static const struct {
  const char *name;
  void (*call)(unsigned number);
  double bytes; /* that it may leave */
  bool isHeard; /* by modules */
} operations[] = {
    {"look up a table", look_up, 4, false},
    {"look up a table by a given name", look_up_named, 4, false},
    {"look up a singleton", singleton, 4, false},
    {"make and give back", make_each, 4, false},
    {"make and give back a weak one", make_weak, 4, false},
    {"find nothing", miss, 4, false},
    {"begin, use and end scopes", scope, 4, false},
    {"visit entries and remarks", visit, 4, false},
    {"trigger", trigger, 4, true},
    {"start what runs", start_again, 4, true},
    {"stop and start", stop_and_start, 4, true},
    /* As the header says. */
    {"override", override, 64, false},
    {"register and unregister a service", service, 16, false},
    {"register and unregister a module", module, 16, true},
};

bool model_leaves_nothing(unsigned count) {
  beehive_register_service("Table", "Growth", &table);
  beehive_register_module("guest", &guest);
  if (!model_open() || !beehive_start()) return puts(beehive_last_error()), false;
  bool isClean = true;
  for (unsigned i = 0; i < sizeof operations / sizeof *operations; i++) {
    /* The profiler has as many spans before and after. */
    if (operations[i].isHeard && count % 20000 != 0) continue;
    /* Tables grow, and buffers fill, up to some size. */
    for (unsigned number = 0; number < count; number++) operations[i].call(number);
    const size_t before = mallinfo2().uordblks;
    for (unsigned number = 0; number < count; number++) operations[i].call(count + number);
    const double each = ((double)mallinfo2().uordblks - (double)before) / count;
    if (each < operations[i].bytes) continue;
    printf("%s: %.1f bytes\n", operations[i].name, each);
    isClean = false;
  }
  return isClean & beehive_stop();
}
