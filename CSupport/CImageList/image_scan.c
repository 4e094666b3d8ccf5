/* One pass through the loader's list: which images are there. */
#include "image_loader.h"

#include <stdlib.h>
#include <string.h>

struct counters {
  uint64_t adds, subs;
  bool known;
};

static int read_counters(loader_image *image, size_t size, void *context) {
  struct counters *counters = context;
  counters->known = image_counters(image, size, &counters->adds, &counters->subs);
  return 1;
}

bool image_list_probe(uint64_t *adds, uint64_t *subs) {
  struct counters counters = {0};
  loader_walk(read_counters, &counters);
  *adds = counters.adds;
  *subs = counters.subs;
  return counters.known;
}

struct scan {
  image_list *list, *previous;
  size_t known, known_names; /* what the list held before */
  size_t kept, kept_names;   /* what of that is still true */
  size_t position;         /* of the image in the loader's list */
  size_t needed, needed_names;
  struct counters counters;
  bool fresh; /* the list is filled from the start; what it held was handed to `previous` */
};

/* Under the loader's lock: the first image decides whether what the list holds is still true. */
static IMAGE_RARELY void begin_pass(struct scan *scan, const loader_image *image, size_t size) {
  image_list *list = scan->list;
  scan->counters.known =
      image_counters(image, size, &scan->counters.adds, &scan->counters.subs);
  bool valid = scan->counters.known && list->counted && list->subs == scan->counters.subs;
  if (!scan->fresh && !valid) {
    image_list old = *list;
    *list = *scan->previous;
    *scan->previous = old;
    scan->fresh = true;
    scan->kept = scan->kept_names = 0;
  }
  scan->needed = scan->kept;
  scan->needed_names = scan->kept_names;
}

static int collect(loader_image *image, size_t size, void *context) {
  struct scan *scan = context;
  image_list *list = scan->list;
  if (scan->position == 0) begin_pass(scan, image, size);
  if (scan->position++ < scan->kept) return 0;
  const char *name = image_name(image);
  size_t name_size = strlen(name) + 1;
  size_t number = scan->needed++, start = scan->needed_names;
  scan->needed_names = start + name_size;
  if (number >= list->capacity || scan->needed_names > list->names_capacity) return 0;
  image_entry *entry = &list->entries[number];
  entry->name = (uint32_t)start;
  memcpy(list->names + start, name, name_size);
  image_describe(image, entry);
  return 0;
}

static bool reserve(image_list *list, size_t count, size_t names) {
  if (count > list->capacity) {
    image_entry *entries = realloc(list->entries, count * sizeof *entries);
    if (entries == NULL) return false;
    list->entries = entries;
    list->capacity = count;
  }
  if (names > list->names_capacity) {
    char *grown = names <= UINT32_MAX ? realloc(list->names, names) : NULL;
    if (grown == NULL) return false;
    list->names = grown;
    list->names_capacity = names;
  }
  return true;
}

/* Room for that much, and for what may be loaded next. */
static bool expect(image_list *list, size_t count, size_t names) {
  return reserve(list, count + count / 4 + 16, names + names / 4 + 1024);
}

/* The length of a path, roughly. Where names are longer, a second pass has room for them. */
#define NAME_SIZE 64

bool image_list_scan(image_list *list, image_list *previous) {
  /* Make room by the loader's own count first: then one pass is usually enough. */
  uint64_t adds, subs;
  if (list->capacity == 0 && image_list_probe(&adds, &subs))
    expect(list, adds - subs, (adds - subs) * NAME_SIZE);
  struct scan scan = {.list = list, .previous = previous, .fresh = list->count == 0};
  previous->count = previous->names_size = 0;
  previous->counted = false;
  scan.needed = scan.kept = scan.known = list->count;
  scan.needed_names = scan.kept_names = scan.known_names = list->names_size;
  for (;;) {
    scan.position = 0;
    loader_walk(collect, &scan);
    if (scan.needed <= list->capacity && scan.needed_names <= list->names_capacity) break;
    /* More images than fitted: nothing is allocated inside the pass, so another one follows. */
    if (!expect(list, scan.needed, scan.needed_names)) {
      if (scan.fresh) {
        image_list unfinished = *list;
        *list = *previous;
        *previous = unfinished;
      }
      list->count = scan.known;
      list->names_size = scan.known_names;
      previous->count = 0;
      return false;
    }
  }
  list->count = scan.needed;
  list->names_size = scan.needed_names;
  image_assign_roles(list->entries, list->count);
  list->adds = scan.counters.adds;
  list->subs = scan.counters.subs;
  list->counted = scan.counters.known;
  return true;
}
