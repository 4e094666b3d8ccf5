/* What the program headers and notes of one mapped image say.
 *
 * A walk costs what is here, once per image: so it is one loop over the program headers, every
 * field is written once, and what is rare has functions of its own. Every bound is believed only
 * after it was found inside the image: a note is foreign data, and tools move it (patchelf)
 * without knowing that its offsets are relative to itself. */
#define _GNU_SOURCE
#include <string.h>

#include "image_loader.h"

/* More PT_NOTE than any linker writes; the rest is not looked at. */
#define NOTE_LIMIT 8

/* Before a note's name: the sizes of name and descriptor, and the type, four bytes each. */
#define HEAD_SIZE 12

#define OWNER "Beehive"
#define TYPE 0x42454501u
#define VERSION 1u
#define RUNTIME_TYPE 0x42454502u

/* The descriptor's words: version, flags, image header, then three pairs of bounds. */
enum { WORD_VERSION, WORD_FLAGS, WORD_HEADER, WORD_BOUNDS, WORD_COUNT = WORD_BOUNDS + 6 };

/* The address that word `index` of the descriptor leads to: an offset from the word itself. */
static uintptr_t target(const unsigned char *descriptor, unsigned index) {
  int32_t offset;
  memcpy(&offset, descriptor + index * sizeof offset, sizeof offset);
  return (uintptr_t)descriptor + index * sizeof offset + (uintptr_t)(intptr_t)offset;
}

static bool is_known(const unsigned char *descriptor, size_t size) {
  uint32_t version;
  if (size < WORD_COUNT * sizeof(int32_t)) return false;
  memcpy(&version, descriptor, sizeof version);
  return version == VERSION;
}

static IMAGE_RARELY enum image_note read_bounds(
    const loader_image *image, const image_entry *entry, const unsigned char *descriptor,
    size_t size, image_range *sections) {
  if (size < WORD_COUNT * sizeof(int32_t)) return IMAGE_NOTE_SHORT;
  if (!is_known(descriptor, size)) return IMAGE_NOTE_VERSION;

  /* The header's true place tells by how much a tool has moved the note. In ET_EXEC such tools move
   * the header instead, so there a difference says nothing. */
  uintptr_t moved = entry->header - target(descriptor, WORD_HEADER);
  if (moved != 0 &&
      (entry->header == 0 || ((const ElfW(Ehdr) *)entry->header)->e_type == ET_EXEC))
    return IMAGE_NOTE_MOVED;

  for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
    uintptr_t start = target(descriptor, WORD_BOUNDS + 2 * i) + moved;
    uintptr_t stop = target(descriptor, WORD_BOUNDS + 2 * i + 1) + moved;
    sections[i] = (image_range){start, stop};
    if (start == stop) continue;
    if ((start | stop) & 7) return IMAGE_NOTE_MISALIGNED;
    if (image_segment_of(image, start, stop) == NULL) return IMAGE_NOTE_OUT_OF_IMAGE;
  }
  return IMAGE_NOTE_FOUND;
}

static IMAGE_RARELY void take_unusual(
    const loader_image *image, image_entry *entry, const unsigned char *descriptor, size_t size) {
  if (entry->note == IMAGE_NOTE_NONE) {
    entry->note = (uint8_t)read_bounds(image, entry, descriptor, size, entry->sections);
    return;
  }
  /* ThinLTO leaves two notes that agree. Two that do not cannot both be true. */
  image_range sections[IMAGE_SECTION_COUNT];
  enum image_note note = read_bounds(image, entry, descriptor, size, sections);
  if (note != entry->note || (note == IMAGE_NOTE_FOUND &&
                              memcmp(sections, entry->sections, sizeof sections) != 0))
    entry->note = IMAGE_NOTE_DISAGREES;
}

/* As a rule a note is where it was linked, and its sections are side by side in the `last`
 * readable segment, the empty ones too. */
static void take_note(
    const loader_image *image, const ElfW(Phdr) *last, image_entry *entry,
    const unsigned char *descriptor, size_t size) {
  if (entry->note == IMAGE_NOTE_NONE && is_known(descriptor, size) &&
      target(descriptor, WORD_HEADER) == entry->header) {
    uintptr_t low = image->dlpi_addr + last->p_vaddr, size_there = last->p_filesz;
    uintptr_t bits = 0;
    bool is_there = true;
    for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
      uintptr_t start = target(descriptor, WORD_BOUNDS + 2 * i);
      uintptr_t stop = target(descriptor, WORD_BOUNDS + 2 * i + 1);
      entry->sections[i] = (image_range){start, stop};
      bits |= start | stop;
      is_there &= start - low <= stop - low && stop - low <= size_there;
    }
    if (is_there && (bits & 7) == 0) {
      entry->note = IMAGE_NOTE_FOUND;
      return;
    }
  }
  take_unusual(image, entry, descriptor, size);
}

static IMAGE_RARELY void copy_last_bytes(image_entry *entry, const unsigned char *bytes) {
  memcpy(entry->build_id, bytes, entry->build_id_size);
}

/* `left` bytes follow, of which `size` are the build-id. */
static void take_build_id(
    image_entry *entry, const unsigned char *bytes, size_t size, size_t left) {
  if (size > IMAGE_BUILD_ID_LIMIT || entry->build_id_size != 0) return;
  entry->build_id_size = (uint8_t)size;
  /* So many at once, since the compiler does that in place. What is too much is not looked at. */
  if (left >= IMAGE_BUILD_ID_LIMIT)
    memcpy(entry->build_id, bytes, IMAGE_BUILD_ID_LIMIT);
  else
    copy_last_bytes(entry, bytes);
}

/* Whether the name that follows a note's head, of this size by the head, is that one. */
#define IS_NAMED(note, size, name) \
  ((size) == sizeof(name) && memcmp((note) + HEAD_SIZE, name, sizeof(name)) == 0)

/* The notes of one segment. `first` and `last` are readable ones, looked at before all others. */
static void take_notes(
    const loader_image *image, const ElfW(Phdr) *segment, const ElfW(Phdr) *first,
    const ElfW(Phdr) *last, image_entry *entry) {
  uintptr_t start = image->dlpi_addr + segment->p_vaddr;
  uintptr_t stop = start + segment->p_memsz;
  if (!image_segment_holds(image, first, start, stop) &&
      image_segment_of(image, start, stop) == NULL)
    return;
  const unsigned char *note = (const unsigned char *)start;
  size_t left = segment->p_memsz;
  /* Linkers gather notes of 4 and of 8 bytes' alignment in segments of their own, but mold puts
   * both into one of 8: there a note may begin at any multiple of 4, and those of an owner that is
   * known here are picked out, each up to its end. */
  bool mixed = segment->p_align >= 8;
  while (left >= HEAD_SIZE) {
    uint32_t name_size, size, type;
    memcpy(&name_size, note, sizeof name_size);
    memcpy(&size, note + 4, sizeof size);
    memcpy(&type, note + 8, sizeof type);
    uint64_t descriptor = (HEAD_SIZE + (uint64_t)name_size + 3) & ~(uint64_t)3;
    uint64_t end = descriptor + size;
    uint64_t next = (end + 3) & ~(uint64_t)3;
    if (end > left) {
      if (type == TYPE && left >= HEAD_SIZE + sizeof OWNER && IS_NAMED(note, name_size, OWNER)) {
        entry->note = IMAGE_NOTE_SHORT;
        return;
      }
      if (!mixed) return;
      next = 4;
    } else if (type == NT_GNU_BUILD_ID && IS_NAMED(note, name_size, ELF_NOTE_GNU)) {
      take_build_id(entry, note + descriptor, size, left - (size_t)descriptor);
    } else if (type == TYPE && IS_NAMED(note, name_size, OWNER)) {
      take_note(image, last, entry, note + descriptor, size);
    } else if (type == RUNTIME_TYPE && IS_NAMED(note, name_size, OWNER)) {
      entry->runtime = true;
    } else if (mixed && !IS_NAMED(note, name_size, ELF_NOTE_GNU)) {
      next = 4;
    }
    if (next >= left) return;
    note += next;
    left -= (size_t)next;
  }
}

void image_describe(const loader_image *image, image_entry *entry) {
  /* The same offsets in the pages of all images compete for few lines of the first cache: what is
   * read of one is asked for at once, so that the misses are waited for together. */
  __builtin_prefetch((const void *)image->dlpi_addr);
  __builtin_prefetch(image->dlpi_phdr + image->dlpi_phnum);
  __builtin_prefetch((const char *)(image->dlpi_phdr + image->dlpi_phnum) + 64);
  const ElfW(Phdr) *notes[NOTE_LIMIT];
  unsigned note_count = 0;
  const ElfW(Phdr) *first = NULL, *last = NULL; /* of the readable segments */
  const ElfW(Phdr) *end = image->dlpi_phdr + image->dlpi_phnum;
  for (const ElfW(Phdr) *segment = image->dlpi_phdr; segment != end; segment++) {
    switch (segment->p_type) {
      case PT_LOAD:
        if (!(segment->p_flags & PF_R)) break;
        if (first == NULL) first = segment;
        last = segment;
        break;
      case PT_NOTE:
        if (note_count < NOTE_LIMIT) notes[note_count++] = segment;
        break;
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
  entry->role = IMAGE_ROLE_LIBRARY;
  entry->build_id_size = 0;
  entry->runtime = false;
  if (first == NULL) return; /* nothing of it can be read */
  for (unsigned i = 0; i < note_count; i++) take_notes(image, notes[i], first, last, entry);
}
