// Looks at one image the way a runtime does, and compares it with what was put in.
//
//   checker MODS SERVICES RECORDS NOTES library.so     loads the library, checks, closes, checks
//   program MODS SERVICES RECORDS NOTES                checks itself: this file linked into it
//
// NOTES is how many notes at most (ThinLTO keeps one per module), 0 if the image shall be silent.
// Prints the first thing that is wrong and exits with 1.
#define _GNU_SOURCE
#include <BeeHive.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ups, downs;
static beehive_image *announced;

__attribute__((visibility("default"))) void beehive_image_event(beehive_image *image, int event) {
  if (event == BEEHIVE_IMAGE_UP) {
    ups++;
    announced = image;
  } else {
    downs++;
  }
}

#define EXPECT(condition, ...)                \
  do {                                        \
    if (!(condition)) {                       \
      printf(__VA_ARGS__);                    \
      printf(" (%s)\n", #condition);          \
      exit(1);                                \
    }                                         \
  } while (0)

struct found {
  const char *path; /* null: the program itself */
  const char *header;
  int notes;
  const char *bounds[6];
};

static void read_note(struct found *found, const char *bytes) {
  const beehive_note_descriptor *note = (const void *)bytes;
  const int32_t *fields = &note->mods_start;
  EXPECT(note->version == 1 && note->flags == 0, "note version %u", note->version);
  const char *header = (const char *)&note->image_header + note->image_header;
  EXPECT(header == found->header, "the note's header is %p, the image's %p", (const void *)header,
         (const void *)found->header);
  for (int i = 0; i < 6; i++) {
    const char *bound = (const char *)&fields[i] + fields[i];
    EXPECT(found->notes == 0 || found->bounds[i] == bound, "two notes differ");
    found->bounds[i] = bound;
  }
  found->notes++;
}

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
  struct found *found = context;
  (void)size;
  if (strcmp(info->dlpi_name, found->path ? found->path : "") != 0) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && segment->p_offset == 0)
      found->header = (const char *)info->dlpi_addr + segment->p_vaddr;
  }
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
    if (segment->p_type != PT_NOTE) continue;
    // Word by word: mold puts notes of different alignment into one segment, so that its alignment
    // does not say where the next note begins.
    const char *next = (const char *)info->dlpi_addr + segment->p_vaddr;
    const char *end = next + segment->p_memsz;
    for (; next + 12 + 8 + sizeof(beehive_note_descriptor) <= end; next += 4) {
      const ElfW(Nhdr) *note = (const void *)next;
      if (note->n_namesz == 8 && note->n_type == BEEHIVE_NOTE_TYPE &&
          note->n_descsz >= sizeof(beehive_note_descriptor) &&
          memcmp(next + 12, BEEHIVE_NOTE_OWNER, 8) == 0)
        read_note(found, next + 12 + 8);
    }
  }
  return 1;
}

static void check_pointers(const char *start, const char *stop, int count, const char *prefix) {
  EXPECT((stop - start) % (ptrdiff_t)sizeof(void *) == 0, "half a pointer");
  int n = (int)((stop - start) / (ptrdiff_t)sizeof(void *));
  EXPECT(n == count, "%d entries of %s, not %d", n, prefix, count);
  for (const char *const *entry = (const void *)start; (const char *)entry < stop; entry++)
    EXPECT(*entry && strncmp(*entry, prefix, strlen(prefix)) == 0, "entry %s", *entry);
}

static void check_record(const beehive_record_head *record) {
  const char *text = (const char *)record + record->text_offset;
  const char *implementation = text + strlen(text) + 1;
  const char *abi = implementation + strlen(implementation) + 1;
  EXPECT(strncmp(text, "Typed.", 6) == 0, "name %s", text);
  EXPECT(record->version == 1 && record->text_offset == 32, "head of %s", text);
  EXPECT(!record->accessor, "accessor of %s", text);
  if (strcmp(abi, "abi=c-module") == 0) {
    const beehive_module_table *table = record->context;
    EXPECT(record->kind == BEEHIVE_KIND_MODULE, "kind of %s", text);
    EXPECT(table->operations_size == sizeof(beehive_module_operations) &&
               !table->operations->set_up(NULL), "module %s", text);
  } else if (strcmp(abi, "abi=c-table") == 0) {
    const beehive_service_table *table = record->context;
    EXPECT(record->kind == BEEHIVE_KIND_SERVICE, "kind of %s", text);
    EXPECT(table->table_size == sizeof(void *) && (*(int (*const *)(int))table->table)(1) == 2,
           "table of %s", text);
  } else {
    const beehive_service_factory *factory = record->context;
    beehive_context context = {sizeof context, 1, NULL, "", NULL, 0, &context};
    EXPECT(strcmp(abi, "abi=c-factory") == 0, "abi of %s", text);
    EXPECT(factory->create(&context) == &context, "factory of %s", text);
  }
}

static void check_records(const char *start, const char *stop, int count) {
  int n = 0;
  while (start < stop) {
    const beehive_record_head *record = (const void *)start;
    // Readers skip padding words; entries that are all aligned to 8 leave none.
    EXPECT(record->size >= 40 && record->size % 8 == 0, "record of %u bytes", record->size);
    check_record(record);
    start += record->size;
    n++;
  }
  EXPECT(start == stop, "the last record ends past its section");
  EXPECT(n == count, "%d records, not %d", n, count);
}

int main(int argc, char **argv) {
  EXPECT(argc >= 5, "usage: checker MODS SERVICES RECORDS NOTES [library]");
  int mods = atoi(argv[1]), services = atoi(argv[2]), records = atoi(argv[3]);
  struct found found = {0};
  found.path = argc > 5 ? argv[5] : NULL;
  void *library = found.path ? dlopen(found.path, RTLD_NOW | RTLD_LOCAL) : NULL;
  EXPECT(!found.path || library, "%s", dlerror());

  dl_iterate_phdr(visit, &found);
  if (atoi(argv[4]) == 0) {
    EXPECT(ups == 0 && found.notes == 0, "%d calls, %d notes", ups, found.notes);
    return 0;
  }
  EXPECT(ups == 1, "%d calls of the hook", ups);
  EXPECT(found.notes >= 1 && found.notes <= atoi(argv[4]), "%d notes", found.notes);
  EXPECT(announced->size == sizeof *announced && announced->version == 1, "node");
  EXPECT(announced->header == found.header, "the node's header");
  const void *const *bounds = &announced->mods;
  for (int i = 0; i < 6; i++) EXPECT(bounds[i] == found.bounds[i], "bound %d of node and note", i);

  check_pointers(found.bounds[0], found.bounds[1], mods, "Mod.");
  check_pointers(found.bounds[2], found.bounds[3], services, "{ \"Service.");
  check_records(found.bounds[4], found.bounds[5], records);

  if (library) {
    EXPECT(dlclose(library) == 0 && downs == 1, "%d calls on the way out", downs);
    EXPECT(!dlopen(found.path, RTLD_NOW | RTLD_NOLOAD), "dlclose did not unload it");
  }
  return 0;
}
