/* One pass through the loader's list finds the images. The pass copies, and libelf reads the copies
 * right after it. */
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
  char *capsules; /* of the new images, in their order */
  size_t capsules_size, needed_capsules;
  struct counters counters;
  bool fresh; /* the list is filled from the start; what it held was handed to `previous` */
};

/* Under the loader's lock: the first image decides whether the list is still true. */
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
  scan->needed_capsules = 0;
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
  bool fits = number < list->capacity && scan->needed_names <= list->names_capacity;
  image_entry *entry = fits ? &list->entries[number] : NULL;
  if (fits) {
    entry->name = (uint32_t)start;
    memcpy(list->names + start, name, name_size);
  }
  size_t used = scan->needed_capsules;
  size_t room = used < scan->capsules_size ? scan->capsules_size - used : 0;
  scan->needed_capsules +=
      image_capsule_copy(image, entry, (image_capsule *)(scan->capsules + used), room);
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

/* Makes room for that much, and for what may be loaded next. */
static bool expect(image_list *list, size_t count, size_t names) {
  return reserve(list, count + count / 4 + 16, names + names / 4 + 1024);
}

/* Does the same for the capsules of a pass. The old contents of the room are lost. */
static bool expect_capsules(struct scan *scan, size_t size) {
  free(scan->capsules);
  scan->capsules_size = size + size / 4 + 4096;
  scan->capsules = malloc(scan->capsules_size);
  return scan->capsules != NULL;
}

/* The length of a path and the size of a capsule, roughly. If they are larger, a second pass has
 * room for them. */
#define NAME_SIZE 64
#define CAPSULE_SIZE 768

/* Walks until everything has fitted, because a pass allocates nothing. False if memory ran out. */
static bool walk(struct scan *scan) {
  for (;;) {
    scan->position = 0;
    loader_walk(collect, scan);
    image_list *list = scan->list;
    bool entries_fit = scan->needed <= list->capacity && scan->needed_names <= list->names_capacity;
    bool capsules_fit = scan->needed_capsules <= scan->capsules_size;
    if (entries_fit && capsules_fit) return true;
    if (!entries_fit && !expect(list, scan->needed, scan->needed_names)) return false;
    if (!capsules_fit && !expect_capsules(scan, scan->needed_capsules)) return false;
  }
}

bool image_list_scan(image_list *list, image_list *previous) {
  struct scan scan = {.list = list, .previous = previous, .fresh = list->count == 0};
  /* Makes room by the loader's own count first, so one pass is usually enough. Later few are new. */
  uint64_t adds, subs;
  size_t new_count = 8;
  if (list->capacity == 0 && image_list_probe(&adds, &subs)) {
    new_count = (size_t)(adds - subs);
    expect(list, new_count, new_count * NAME_SIZE);
  }
  previous->count = previous->names_size = 0;
  previous->counted = false;
  scan.needed = scan.kept = scan.known = list->count;
  scan.needed_names = scan.kept_names = scan.known_names = list->names_size;
  bool done = expect_capsules(&scan, new_count * CAPSULE_SIZE) && walk(&scan) &&
              image_capsules_read((image_capsule *)scan.capsules, list->entries + scan.kept,
                                  scan.needed - scan.kept);
  free(scan.capsules);
  if (!done) {
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
  list->count = scan.needed;
  list->names_size = scan.needed_names;
  image_assign_roles(list->entries, list->count);
  list->adds = scan.counters.adds;
  list->subs = scan.counters.subs;
  list->counted = scan.counters.known;
  return true;
}
