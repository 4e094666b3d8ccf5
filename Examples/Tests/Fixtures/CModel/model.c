#define _GNU_SOURCE
#include "CModel.h"

#include <beehive/runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Things that say when they end ---- */

enum { SINGLE, PAIR, SCOPED, INNER, WEAK, EACH, KINDS };
static const char *const kinds[KINDS] = {"Single", "Pair", "Scoped", "Inner", "Weak", "Each"};

struct thing {
  unsigned number;
  unsigned isAlive;
};

static unsigned made, ended, faults;
/* The numbers of those that have ended, in order; of the sequence that is under way. */
static unsigned endings[4096];
static bool isSequence;

static void fault(const char *what, unsigned number) {
  if (__atomic_add_fetch(&faults, 1, __ATOMIC_RELAXED) < 20) printf("%s %u\n", what, number);
  fflush(stdout);
}

void *model_make(int kind) {
  (void)kind;
  struct thing *thing = malloc(sizeof *thing);
  thing->number = __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
  __atomic_store_n(&thing->isAlive, 1, __ATOMIC_RELEASE);
  return thing;
}

void model_destroy(void *object) {
  struct thing *thing = object;
  if (!__atomic_exchange_n(&thing->isAlive, 0, __ATOMIC_ACQ_REL)) fault("ended twice:", thing->number);
  unsigned count = __atomic_fetch_add(&ended, 1, __ATOMIC_RELAXED);
  if (isSequence && count < sizeof endings / sizeof *endings) endings[count] = thing->number;
  free(thing);
}

/* The number of builds of the library that were opened; the latest has not been removed. */
static unsigned library;

bool model_open(void) {
  char path[32];
  snprintf(path, sizeof path, "./made-%u.so", library);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!handle) return false;
  struct hooks { void *(*make)(int); void (*destroy)(void *); } *hooks = dlsym(handle, "made_hooks");
  if (!hooks) return false;
  hooks->destroy = model_destroy;
  __atomic_store_n(&hooks->make, model_make, __ATOMIC_RELEASE);
  library++;
  return true;
}

/* Removes the latest build. */
static bool remove_library(void) {
  char path[32];
  snprintf(path, sizeof path, "made-%u.so", library - 1);
  return beehive_remove_image(path);
}

/* ---- Names that tables and modules are registered under ---- */

enum { NAMES = 3 };
static const char *const names[NAMES] = {"Table", "Chair", "Owned.Table"};
static const int tables[] = {1, 2, 3, 4};

static bool of_guest(const beehive_context *context) {
  (void)context;
  return beehive_register_service("Owned", "Guest", &tables[0]);
}
static bool heard(const beehive_context *context, const beehive_event *event) {
  (void)context;
  if (event->number != 1000) return false;
  return beehive_register_service("Inside", "Guest", &tables[1]) && beehive_service("Inside", sizeof(int)) &&
         beehive_unregister_service("Inside");
}
/* The same for threads; several may be inside. */
static bool heard_at_once(const beehive_context *context, const beehive_event *event) {
  (void)context, (void)event;
  beehive_register_service("Inside", "Guest", &tables[1]);
  beehive_service("Inside", sizeof(int));
  beehive_unregister_service("Inside");
  return true;
}
static const beehive_module_operations guest = {.set_up = of_guest, .event = heard};
static const beehive_module_operations crowded = {.set_up = of_guest, .event = heard_at_once};

struct search {
  const char *name;
  uint64_t number;
};
static bool is_it(const beehive_entry *entry, void *context) {
  struct search *search = context;
  if (entry->state == BEEHIVE_ENTRY_REJECTED || strcmp(entry->name, search->name)) return true;
  search->number = entry->number;
  return false;
}
/* The number of the entry of a name; 0 where there is none. */
static uint64_t number_of(const char *name) {
  struct search search = {name, 0};
  beehive_entries(is_it, &search);
  return search.number;
}

/* ---- The model: who holds what ---- */

enum { SCOPES = 4, KEPT = 64 };
struct keeper {
  beehive_scope *scope; /* null for the Hive's own, and for a scope that is not open */
  unsigned entries[KEPT], numbers[KEPT], count;
};
static struct {
  int tables[NAMES], overrides[NAMES]; /* 1 and more; 0 for none */
  bool isRunning, wasRunning, hasGuest;
  struct keeper hive, scopes[SCOPES];
  unsigned weakUsers;
  const struct thing *held; /* of EACH */
  unsigned made, ended, endings[4096];
} model;

static void end(unsigned number) { model.endings[model.ended++] = number; }

static void end_all(struct keeper *keeper) {
  while (keeper->count) end(keeper->numbers[--keeper->count]);
}

/* The number of what a lookup answers; 0 for an error. */
static unsigned find(unsigned kind, struct keeper *scope) {
  static const int needed[KINDS] = {-1, SINGLE, SINGLE, SCOPED, -1, -1};
  struct keeper *keeper = kind <= PAIR || kind == WEAK ? &model.hive : scope;
  const unsigned entry = library * KINDS + kind;
  if (kind != EACH) {
    if (!keeper) return 0;
    model.weakUsers += kind == WEAK;
    for (unsigned i = 0; i < keeper->count; i++)
      if (keeper->entries[i] == entry) return keeper->numbers[i];
    if (needed[kind] >= 0) find((unsigned)needed[kind], scope);
  }
  const unsigned number = ++model.made;
  if (kind != EACH) {
    keeper->entries[keeper->count] = entry;
    keeper->numbers[keeper->count++] = number;
  }
  return number;
}

static void end_weak(void) {
  if (--model.weakUsers) return;
  struct keeper *keeper = &model.hive;
  unsigned i = 0;
  while (keeper->entries[i] != library * KINDS + WEAK) i++;
  end(keeper->numbers[i]);
  for (keeper->count--; i < keeper->count; i++) {
    keeper->entries[i] = keeper->entries[i + 1];
    keeper->numbers[i] = keeper->numbers[i + 1];
  }
}

/* Singletons end, and the weak one; not what each caller has for itself. */
static void stop(void) {
  end_all(&model.hive);
  model.weakUsers = 0;
  model.isRunning = false;
}

/* ---- Sequences ---- */

static unsigned long long state;
static unsigned next(unsigned long long *seed, unsigned below) {
  *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
  return (unsigned)(*seed >> 33) % below;
}

#define SAME(call, expected)                                                                     \
  do {                                                                                           \
    const unsigned long long is = (unsigned long long)(call), wanted = (unsigned long long)(expected); \
    if (is != wanted) {                                                                          \
      printf("%s is %llu and not %llu: %s\n", #call, is, wanted, beehive_last_error());          \
      fault("in sequence", sequence);                                                            \
    }                                                                                            \
  } while (0)

static unsigned sequence;

static void check_tables(void) {
  for (unsigned i = 0; i < NAMES; i++) {
    const int expected = model.overrides[i] ? model.overrides[i] : model.tables[i];
    const int *table = beehive_service(names[i], sizeof *table);
    SAME(table ? *table : 0, expected);
  }
  const bool isOwned = model.isRunning && model.hasGuest;
  SAME(beehive_service("Owned", sizeof(int)) != NULL, isOwned);
  SAME(beehive_service("Inside", sizeof(int)) != NULL, false);
}

static unsigned look_up(unsigned kind, struct keeper *scope) {
  const struct thing *thing = beehive_scope_service(scope ? scope->scope : NULL, kinds[kind], NULL, 0);
  if (thing && !__atomic_load_n(&thing->isAlive, __ATOMIC_ACQUIRE)) fault("ended before:", thing->number);
  if (kind == EACH && thing) model.held = thing;
  return thing ? thing->number : 0;
}

static void give_back_held(void) {
  if (!model.held) return;
  end(model.held->number);
  SAME(beehive_destroy("Each", NULL, model.held), true);
  SAME(beehive_destroy("Each", NULL, model.held), false);
  model.held = NULL;
}

/* The child has this thread alone: what needs no other answers as in its parent, and what does is refused. */
static void fork_child(void) {
  fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return;
  if (!child) {
    alarm(60);
    check_tables();
    for (unsigned kind = 0; kind < KINDS; kind++) SAME(look_up(kind, NULL), find(kind, NULL));
    SAME(beehive_register_service("Child", "Child", &tables[0]), true);
    SAME(beehive_unregister_service("Child"), true);
    beehive_scope_end(beehive_scope_begin(NULL));
    if (model.wasRunning) SAME(beehive_trigger(1000, "child", NULL, 0), false);
    if (model.wasRunning) SAME(beehive_stop(), false);
    _exit(faults > 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  SAME(status, 0);
}

static void give_back_weak(void) {
  const void *weak = model.weakUsers ? beehive_service("Weak", 0) : NULL;
  if (weak) SAME(beehive_destroy("Weak", NULL, weak), true);
  for (; model.weakUsers; end_weak()) SAME(beehive_destroy("Weak", NULL, weak), true);
}

/* What is held is given back before, since this model forgets it; what scopes have of the library stays theirs. */
static void replace_library(void) {
  char path[32];
  snprintf(path, sizeof path, "./made-%u.so", library);
  if (access(path, R_OK) != 0) return;
  give_back_weak();
  give_back_held();
  SAME(remove_library(), true);
  SAME(remove_library(), false);
  end_all(&model.hive);
  for (unsigned kind = 0; kind < KINDS; kind++) SAME(look_up(kind, NULL), 0);
  SAME(model_open(), true);
}

static void step(void) {
  const unsigned name = next(&state, NAMES);
  struct keeper *scope = &model.scopes[next(&state, SCOPES)];
  switch (next(&state, 400)) {
  case 0: fork_child(); return;
  case 1: replace_library(); return;
  default: break;
  }
  switch (next(&state, 16)) {
  case 0 ... 1: {
    const int number = 1 + (int)next(&state, 4);
    SAME(beehive_register_service(names[name], "Model", &tables[number - 1]), model.tables[name] == 0);
    if (!model.tables[name]) model.tables[name] = number;
    break;
  }
  case 2:
    SAME(beehive_unregister_service(names[name]), model.tables[name] != 0);
    model.tables[name] = 0;
    break;
  case 3: {
    const uint64_t number = number_of(names[name]);
    SAME(number != 0, model.tables[name] != 0);
    SAME(beehive_remove(number), model.tables[name] != 0);
    SAME(beehive_remove(number), false);
    /* What was refused as its duplicate goes with the name. */
    beehive_unregister_service(names[name]);
    model.tables[name] = 0;
    break;
  }
  case 4: {
    const int number = 1 + (int)next(&state, 4);
    SAME(beehive_override(names[name], NULL, &tables[number - 1]), true);
    model.overrides[name] = number;
    break;
  }
  case 5:
    SAME(beehive_override_end(names[name], NULL), model.overrides[name] != 0);
    model.overrides[name] = 0;
    break;
  case 6:
    SAME(beehive_start(), true);
    model.isRunning = model.wasRunning = true;
    break;
  case 7:
    SAME(beehive_stop(), true);
    stop();
    break;
  case 8:
    SAME(beehive_register_module("guest", &guest), !model.hasGuest);
    model.hasGuest = true;
    break;
  case 9:
    SAME(beehive_unregister_module("guest"), model.hasGuest);
    model.hasGuest = false;
    break;
  case 10: SAME(beehive_trigger(1000, "told", NULL, 0), model.isRunning && model.hasGuest); break;
  case 11:
    if (scope->scope) {
      beehive_scope_end(scope->scope);
      scope->scope = NULL;
      end_all(scope);
    } else {
      scope->scope = beehive_scope_begin(NULL);
    }
    break;
  default: {
    const unsigned kind = next(&state, KINDS);
    if (kind == EACH && model.held) {
      give_back_held();
      break;
    }
    const unsigned expected = find(kind, scope->scope ? scope : NULL);
    SAME(look_up(kind, scope->scope ? scope : NULL), expected);
    if (kind == WEAK && expected && next(&state, 2)) {
      /* No other thing is where it is while it lives. */
      const void *weak = beehive_service("Weak", 0);
      SAME(beehive_destroy("Weak", NULL, weak) && beehive_destroy("Weak", NULL, weak), true);
      end_weak();
    }
  }
  }
  check_tables();
}

/* Everything goes, and the model's counts begin anew. */
static void clear(void) {
  give_back_weak();
  give_back_held();
  for (unsigned i = 0; i < SCOPES; i++) {
    beehive_scope_end(model.scopes[i].scope);
    end_all(&model.scopes[i]);
    model.scopes[i].scope = NULL;
  }
  SAME(beehive_unregister_module("guest"), model.hasGuest);
  SAME(beehive_stop(), true);
  stop();
  for (unsigned i = 0; i < NAMES; i++) {
    beehive_override_end(names[i], NULL);
    beehive_unregister_service(names[i]);
    model.tables[i] = model.overrides[i] = 0;
  }
  model.hasGuest = false;
  check_tables();
}

bool model_sequences(unsigned first, unsigned count) {
  isSequence = true;
  check_tables();
  /* One that is removed before anybody has asked for anything of it. */
  if (!model_open() || !remove_library() || !model_open()) return puts(beehive_last_error()), false;
  for (sequence = first; sequence < first + count && !faults; sequence++) {
    state = sequence;
    made = ended = model.made = model.ended = 0;
    for (int i = 0; i < 40 && !faults; i++) {
      step();
      SAME(ended, model.ended);
      SAME(memcmp(endings, model.endings, sizeof *endings * ended), 0);
    }
    if (!faults) clear();
    SAME(ended, model.ended);
    SAME(made, ended);
  }
  isSequence = false;
  return !faults;
}

/* ---- Threads ---- */

static void use(const struct thing *thing) {
  if (thing && !__atomic_load_n(&thing->isAlive, __ATOMIC_ACQUIRE)) fault("used after its end:", thing->number);
}

void model_calls(unsigned seed, unsigned count, bool replaces) {
  unsigned long long random = seed;
  for (unsigned i = 0; i < count; i++) {
    const char *name = names[next(&random, NAMES)];
    const unsigned call = next(&random, 16);
    if (replaces && (call == 10 || call == 11)) {
      if (seed == 1 && i % (count / 8 + 1) < 16 && remove_library()) model_open();
      continue;
    }
    switch (call) {
    case 0: beehive_register_service(name, "Model", &tables[seed % 4]); break;
    case 1: beehive_unregister_service(name); break;
    case 2: beehive_remove(number_of(name)); break;
    case 3: beehive_override(name, NULL, &tables[seed % 4]); break;
    case 4: beehive_override_end(name, NULL); break;
    case 5: beehive_start(); break;
    case 6: beehive_stop(); break;
    case 7: beehive_register_module("guest", &crowded); break;
    case 8: beehive_unregister_module("guest"); break;
    case 9: beehive_trigger(1000, "told", NULL, 0); break;
    /* A stop ends it, too: it may be gone already. */
    case 10: beehive_destroy("Weak", NULL, beehive_service("Weak", 0)); break;
    case 11: {
      const void *each = beehive_service("Each", 0);
      use(each);
      if (each && !beehive_destroy("Each", NULL, each)) fault("not given back:", i);
      break;
    }
    case 12: beehive_service("Pair", 0); break;
    default: {
      beehive_scope *outer = beehive_scope_begin(NULL), *scope = beehive_scope_begin(outer);
      const struct thing *inner = beehive_scope_service(scope, "Inner", NULL, 0);
      use(inner);
      use(beehive_scope_service(outer, "Scoped", NULL, 0));
      use(inner);
      beehive_scope_end(scope);
      beehive_scope_end(outer);
    }
    }
  }
}

static bool is_ours(const beehive_entry *entry, void *context) {
  (void)context;
  return strstr(entry->source, ".so") != NULL || (printf("left: %s\n", entry->name), fflush(stdout), false);
}

bool model_is_over(void) {
  beehive_unregister_module("guest");
  for (unsigned i = 0; i < NAMES; i++) {
    beehive_override_end(names[i], NULL);
    beehive_unregister_service(names[i]);
  }
  beehive_unregister_service("Inside");
  beehive_stop();
  beehive_entries(is_ours, NULL);
  if (made != ended) printf("%u were made, and %u have ended\n", made, ended);
  return made == ended && !faults;
}
