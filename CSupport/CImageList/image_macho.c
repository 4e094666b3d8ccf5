/* dyld's images. Compiled in continuous integration, without an SDK; not run there.
 *
 * dyld's own list may change between two questions, so images are written down as dyld tells of
 * them. Its "remove" call comes before the unmapping and waits for the pass in progress: what a
 * pass visits stays mapped. A pass asks dyld nothing: dyld may hold its lock while it waits. */
#if defined(__APPLE__)

#include "image_loader.h"
#include "image_macho.h"
#include "image_system.h"

static loader_image *images;
static size_t image_count, image_capacity;
static uint64_t adds, subs;
static bool busy;

static void hold(void) {
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) sched_yield();
}

static void release(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

static void add_image(const struct mach_header *header, intptr_t slide) {
  Dl_info info;
  const char *name = dladdr(header, &info) != 0 ? info.dli_fname : "";
  hold();
  if (image_count == image_capacity) {
    size_t capacity = image_capacity * 2 + 256;
    loader_image *grown = realloc(images, capacity * sizeof *grown);
    if (grown != NULL) {
      images = grown;
      image_capacity = capacity;
    }
  }
  if (image_count < image_capacity) {
    images[image_count++] = (loader_image){
        .header = (const struct mach_header_64 *)header, .bias = (uintptr_t)slide, .name = name};
    adds++;
  }
  release();
}

static void remove_image(const struct mach_header *header, intptr_t slide) {
  (void)slide;
  hold();
  for (size_t i = 0; i < image_count; i++) {
    if (images[i].header != (const struct mach_header_64 *)header) continue;
    memmove(&images[i], &images[i + 1], (image_count - i - 1) * sizeof *images);
    image_count--;
    subs++;
    break;
  }
  release();
}

/* dyld calls back for every image that is there already. */
__attribute__((constructor)) static void follow_dyld(void) {
  _dyld_register_func_for_add_image(add_image);
  _dyld_register_func_for_remove_image(remove_image);
}

void loader_walk(int (*visit)(loader_image *image, size_t size, void *context), void *context) {
  hold();
  for (size_t i = 0; i < image_count; i++) {
    loader_image image = images[i];
    image.adds = adds;
    image.subs = subs;
    if (visit(&image, sizeof image, context) != 0) break;
  }
  release();
}

/* Calls `visit` with each segment until it answers true; the segment it stopped at, or null. */
static const struct segment_command_64 *find_segment(
    const struct mach_header_64 *header,
    bool (*visit)(const struct segment_command_64 *segment, void *context), void *context) {
  const unsigned char *next = (const unsigned char *)header + MACH_HEADER_SIZE;
  const unsigned char *end = next + header->sizeofcmds;
  for (uint32_t i = 0; i < header->ncmds; i++) {
    const struct load_command *command = (const struct load_command *)next;
    if ((size_t)(end - next) < sizeof *command || command->cmdsize < sizeof *command ||
        command->cmdsize > (size_t)(end - next))
      return NULL;
    if (command->cmd == LC_SEGMENT_64 && command->cmdsize >= sizeof(struct segment_command_64)) {
      const struct segment_command_64 *segment = (const struct segment_command_64 *)command;
      if (visit(segment, context)) return segment;
    }
    next += command->cmdsize;
  }
  return NULL;
}

static const struct uuid_command *find_uuid(const struct mach_header_64 *header) {
  const unsigned char *next = (const unsigned char *)header + MACH_HEADER_SIZE;
  const unsigned char *end = next + header->sizeofcmds;
  for (uint32_t i = 0; i < header->ncmds; i++) {
    const struct load_command *command = (const struct load_command *)next;
    if ((size_t)(end - next) < sizeof *command || command->cmdsize < sizeof *command ||
        command->cmdsize > (size_t)(end - next))
      return NULL;
    if (command->cmd == LC_UUID && command->cmdsize >= sizeof(struct uuid_command))
      return (const struct uuid_command *)command;
    next += command->cmdsize;
  }
  return NULL;
}

/* The headers have said it. */
void image_assign_roles(image_entry *entries, size_t count) {
  (void)entries;
  (void)count;
}

void image_describe(const loader_image *image, image_entry *entry) {
  static const char *const names[IMAGE_SECTION_COUNT] = {
      "BeehiveMods", "BeehiveServices", "BeehiveRecords"};
  const struct mach_header_64 *header = image->header;
  entry->bias = image->bias;
  entry->header = (uintptr_t)header;
  entry->program_headers = image_key(image);
  entry->layout = header->sizeofcmds ^ ((uint64_t)header->ncmds << 32);
  /* The headers are mapped and name the sections: as good as a note. */
  entry->note = IMAGE_NOTE_FOUND;
  for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
    unsigned long size = 0;
    uintptr_t start = (uintptr_t)getsectiondata(header, "__DATA", names[i], &size);
    if (start == 0) start = (uintptr_t)getsectiondata(header, "__DATA_CONST", names[i], &size);
    entry->sections[i] = (image_range){start, start == 0 ? 0 : start + size};
  }
  entry->role = header->filetype == MH_EXECUTE ? IMAGE_ROLE_MAIN : IMAGE_ROLE_LIBRARY;
  const struct uuid_command *uuid = find_uuid(header);
  entry->runtime = false;
  entry->build_id_size = uuid != NULL ? sizeof uuid->uuid : 0;
  if (uuid != NULL) memcpy(entry->build_id, uuid->uuid, sizeof uuid->uuid);
}

struct range_search {
  uintptr_t bias, start, stop;
};

static bool holds_range(const struct segment_command_64 *segment, void *context) {
  const struct range_search *search = context;
  uintptr_t low = search->bias + (uintptr_t)segment->vmaddr;
  return (segment->initprot & IMAGE_PROT_READ) && search->start >= low &&
         search->start <= search->stop && search->stop - low <= segment->filesize;
}

bool image_contents(
    const loader_image *image, uintptr_t start, uintptr_t stop, image_range *contents,
    bool *writable) {
  struct range_search search = {image->bias, start, stop};
  const struct segment_command_64 *segment = find_segment(image->header, holds_range, &search);
  if (segment == NULL) return false;
  contents->start = image->bias + (uintptr_t)segment->vmaddr;
  contents->stop = contents->start + (uintptr_t)segment->filesize;
  *writable = segment->initprot & IMAGE_PROT_WRITE;
  return true;
}

static bool widen(const struct segment_command_64 *segment, void *context) {
  image_place *place = context;
  uintptr_t low = place->bias + (uintptr_t)segment->vmaddr;
  if (segment->initprot == 0) return false; /* __PAGEZERO */
  if (low < place->lowest) place->lowest = low;
  if (low + segment->vmsize > place->highest) place->highest = low + (uintptr_t)segment->vmsize;
  return false;
}

image_place image_place_of(const loader_image *image) {
  image_place place = {
      .bias = image->bias, .dynamic = (uintptr_t)image->header, .lowest = UINTPTR_MAX};
  find_segment(image->header, widen, &place);
  return place;
}

void image_headers(
    const loader_image *image, uintptr_t header, image_range *main, image_range *program) {
  uintptr_t commands = image_key(image);
  *main = (image_range){header, commands};
  *program = (image_range){commands, commands + image->header->sizeofcmds};
}

struct address_search {
  uintptr_t address;
  image_place *place;
  const char *name;
};

static int compare(loader_image *image, size_t size, void *context) {
  (void)size;
  struct address_search *search = context;
  image_place place = image_place_of(image);
  if (search->address < place.lowest || search->address >= place.highest) return 0;
  *search->place = place;
  search->name = image->name;
  return 1;
}

const char *image_place_find(const void *address, image_place *place) {
  struct address_search search = {.address = (uintptr_t)address, .place = place};
  loader_walk(compare, &search);
  return search.name;
}

struct segment_search {
  uintptr_t address, bias;
  image_segment *segment;
};

static bool holds_address(const struct segment_command_64 *segment, void *context) {
  struct segment_search *search = context;
  uintptr_t low = search->bias + (uintptr_t)segment->vmaddr;
  if (search->address < low || search->address - low >= segment->vmsize) return false;
  *search->segment = (image_segment){
      {low, low + (uintptr_t)segment->vmsize}, segment->initprot & IMAGE_PROT_READ,
      segment->initprot & IMAGE_PROT_EXECUTE};
  return true;
}

static int compare_segments(loader_image *image, size_t size, void *context) {
  (void)size;
  struct segment_search *search = context;
  search->bias = image->bias;
  return find_segment(image->header, holds_address, search) != NULL;
}

bool image_segment_find(uintptr_t address, image_segment *segment) {
  struct segment_search search = {address, 0, segment};
  *segment = (image_segment){{0, 0}, false, false};
  loader_walk(compare_segments, &search);
  return segment->range.stop != 0;
}

/* Swift's runtime reads these sections of every image that dyld announces. */
bool image_carries_swift(const image_place *place) {
  const struct mach_header_64 *header = (const struct mach_header_64 *)place->dynamic;
  unsigned long size = 0;
  return getsectiondata(header, "__TEXT", "__swift5_types", &size) != NULL ||
         getsectiondata(header, "__TEXT", "__swift5_proto", &size) != NULL ||
         getsectiondata(header, "__TEXT", "__swift5_protos", &size) != NULL;
}

void *image_reference_take(const image_place *place, const char *name, bool forever) {
  /* Before the reference, so that another image of the same name is not pinned. */
  Dl_info info;
  if (dladdr((const void *)place->dynamic, &info) == 0 ||
      (uintptr_t)info.dli_fbase != place->dynamic || strcmp(info.dli_fname, name) != 0)
    return NULL;
  void *reference = dlopen(name, RTLD_NOLOAD | RTLD_LAZY | (forever ? RTLD_NODELETE : 0));
  if (reference == NULL) dlerror();
  return reference;
}

void image_reference_release(void *reference) { dlclose(reference); }

#endif
