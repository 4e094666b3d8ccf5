/* One pass through the loader's list: which images are there. */
#define _GNU_SOURCE
#if !defined(__APPLE__)

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "image_segments.h"

/* The loader may be older than the header: it says how much of the structure it fills. */
#define COUNTERS_END (offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(unsigned long long))

struct counters {
  uint64_t adds, subs;
  bool known;
};

static int read_counters(struct dl_phdr_info *info, size_t size, void *context) {
  struct counters *counters = context;
  if (size >= COUNTERS_END) {
    counters->adds = info->dlpi_adds;
    counters->subs = info->dlpi_subs;
    counters->known = true;
  }
  return 1;
}

bool image_list_probe(uint64_t *adds, uint64_t *subs) {
  struct counters counters = {0};
  dl_iterate_phdr(read_counters, &counters);
  *adds = counters.adds;
  *subs = counters.subs;
  return counters.known;
}

struct scan {
  image_list *list, *previous;
  uintptr_t vdso;
  size_t known, known_names; /* what the list held before */
  size_t kept, kept_names;   /* what of that is still true */
  size_t position;         /* of the image in the loader's list */
  size_t needed, needed_names;
  struct counters counters;
  bool fresh; /* the list was handed to `previous` and is filled from the start */
};

/* More PT_NOTE than any linker writes; the rest is not looked at. */
#define NOTE_LIMIT 8

/* Everything a scan says of one image. A walk costs what stands here, once per image: so it is one
 * loop over the program headers, and every field is written once. */
static void describe(const loader_image *image, const struct scan *scan, image_entry *entry) {
  const ElfW(Phdr) *notes[NOTE_LIMIT];
  unsigned note_count = 0;
  const ElfW(Phdr) *first = NULL, *last = NULL; /* of the readable segments */
  const ElfW(Phdr) *end = image->dlpi_phdr + image->dlpi_phnum;
  for (const ElfW(Phdr) *segment = image->dlpi_phdr; segment != end; segment++) {
    if (segment->p_type == PT_LOAD) {
      if (!(segment->p_flags & PF_R)) continue;
      if (first == NULL) first = segment;
      last = segment;
    } else if (segment->p_type == PT_NOTE) {
      if (note_count < NOTE_LIMIT) notes[note_count++] = segment;
    }
  }
  const ElfW(Ehdr) *header = NULL;
  if (first != NULL && first->p_offset == 0 && first->p_filesz >= sizeof *header) {
    header = (const ElfW(Ehdr) *)(image->dlpi_addr + first->p_vaddr);
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) header = NULL;
  }

  entry->bias = image->dlpi_addr;
  entry->header = (uintptr_t)header;
  entry->program_headers = (uintptr_t)image->dlpi_phdr;
  entry->layout = header != NULL ? header->e_shoff ^ ((uint64_t)header->e_entry << 32) : 0;
  entry->note = IMAGE_NOTE_NONE;
  entry->build_id_size = 0;
  entry->role = scan->position == 0                 ? IMAGE_ROLE_MAIN
                : entry->header == scan->vdso && header ? IMAGE_ROLE_VDSO
                                                    : IMAGE_ROLE_LIBRARY;
  for (unsigned i = 0; i < note_count; i++)
    image_note_read(image, notes[i], first, last, entry);
}

/* Under the loader's lock: the first image decides whether what the list holds is still true. */
static void begin_pass(struct scan *scan, const struct dl_phdr_info *info, size_t size) {
  image_list *list = scan->list;
  if (size >= COUNTERS_END) {
    scan->counters.adds = info->dlpi_adds;
    scan->counters.subs = info->dlpi_subs;
    scan->counters.known = true;
  }
  bool valid = scan->counters.known && list->counted && list->subs == scan->counters.subs;
  if (!scan->fresh && !valid) {
    image_list old = *list;
    *list = *scan->previous;
    *scan->previous = old;
    scan->fresh = true;
    scan->kept = scan->kept_names = 0;
  }
  list->count = scan->needed = scan->kept;
  list->names_size = scan->needed_names = scan->kept_names;
}

static int collect(struct dl_phdr_info *info, size_t size, void *context) {
  struct scan *scan = context;
  image_list *list = scan->list;
  if (scan->position == 0) begin_pass(scan, info, size);
  if (scan->position >= scan->kept) {
    const char *name = info->dlpi_name != NULL ? info->dlpi_name : "";
    size_t name_size = strlen(name) + 1;
    scan->needed++;
    scan->needed_names += name_size;
    if (scan->needed <= list->capacity && scan->needed_names <= list->names_capacity) {
      image_entry *entry = &list->entries[list->count++];
      describe(info, scan, entry);
      entry->name = (uint32_t)list->names_size;
      memcpy(list->names + list->names_size, name, name_size);
      list->names_size += name_size;
    }
  }
  scan->position++;
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

bool image_list_scan(image_list *list, image_list *previous) {
  struct scan scan = {.list = list, .previous = previous};
  scan.vdso = getauxval(AT_SYSINFO_EHDR);
  previous->count = previous->names_size = 0;
  previous->counted = false;
  scan.kept = scan.known = list->count;
  scan.kept_names = scan.known_names = list->names_size;
  for (;;) {
    scan.position = 0;
    dl_iterate_phdr(collect, &scan);
    if (scan.needed <= list->capacity && scan.needed_names <= list->names_capacity) break;
    /* More images than fitted: nothing is allocated inside the pass, so another one follows. */
    if (!reserve(list, scan.needed + scan.needed / 4 + 16,
                 scan.needed_names + scan.needed_names / 4 + 1024)) {
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
  list->adds = scan.counters.adds;
  list->subs = scan.counters.subs;
  list->counted = scan.counters.known;
  return true;
}

#endif
