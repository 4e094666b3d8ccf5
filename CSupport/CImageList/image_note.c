/* The notes of one mapped image: its build-id, and where its three sections stand.
 *
 * Every bound is believed only after it was found inside the image: a note is data of a stranger,
 * and tools move it (patchelf) without knowing that its offsets are relative to itself. */
#define _GNU_SOURCE
#if !defined(__APPLE__)

#include <string.h>

#include "image_loader.h"

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

static enum image_note read_bounds(
    const loader_image *image, const ElfW(Phdr) *last, const image_entry *entry,
    const unsigned char *descriptor, size_t size, image_range *sections) {
  if (size < WORD_COUNT * sizeof(int32_t)) return IMAGE_NOTE_SHORT;
  uint32_t version;
  memcpy(&version, descriptor, sizeof version);
  if (version != VERSION) return IMAGE_NOTE_VERSION;

  /* The header's true place tells by how much a tool has moved the note. In ET_EXEC such tools move
   * the header instead, so there a difference says nothing. */
  uintptr_t moved = entry->header - target(descriptor, WORD_HEADER);
  if (moved != 0 &&
      (entry->header == 0 || ((const ElfW(Ehdr) *)entry->header)->e_type == ET_EXEC))
    return IMAGE_NOTE_MOVED;

  uintptr_t lowest = UINTPTR_MAX, highest = 0, bits = 0;
  bool ordered = true;
  for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
    uintptr_t start = target(descriptor, WORD_BOUNDS + 2 * i) + moved;
    uintptr_t stop = target(descriptor, WORD_BOUNDS + 2 * i + 1) + moved;
    sections[i].start = start;
    sections[i].stop = stop;
    bits |= start | stop;
    ordered &= start <= stop;
    if (start < lowest) lowest = start;
    if (stop > highest) highest = stop;
  }
  /* As a rule they stand side by side in the last segment, the empty ones too. */
  if (ordered && (bits & 7) == 0 && image_segment_holds(image, last, lowest, highest))
    return IMAGE_NOTE_FOUND;
  for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
    uintptr_t start = sections[i].start, stop = sections[i].stop;
    if (start == stop) continue;
    if ((start | stop) & 7) return IMAGE_NOTE_MISALIGNED;
    if (image_segment_of(image, start, stop) == NULL) return IMAGE_NOTE_OUT_OF_IMAGE;
  }
  return IMAGE_NOTE_FOUND;
}

static void take_note(
    const loader_image *image, const ElfW(Phdr) *last, image_entry *entry,
    const unsigned char *descriptor, size_t size) {
  if (entry->note == IMAGE_NOTE_NONE) {
    entry->note = (uint8_t)read_bounds(image, last, entry, descriptor, size, entry->sections);
    return;
  }
  /* ThinLTO leaves two notes that agree. Two that do not cannot both be true. */
  image_range sections[IMAGE_SECTION_COUNT];
  enum image_note note = read_bounds(image, last, entry, descriptor, size, sections);
  if (note != entry->note || (note == IMAGE_NOTE_FOUND &&
                              memcmp(sections, entry->sections, sizeof sections) != 0))
    entry->note = IMAGE_NOTE_DISAGREES;
}

static void take_build_id(image_entry *entry, const unsigned char *bytes, size_t size) {
  if (size > IMAGE_BUILD_ID_LIMIT || entry->build_id_size != 0) return;
  entry->build_id_size = (uint8_t)size;
  if (size == 20) /* SHA-1, what almost every linker writes: the compiler copies this in place */
    memcpy(entry->build_id, bytes, 20);
  else
    memcpy(entry->build_id, bytes, size);
}

void image_note_read(
    const loader_image *image, const ElfW(Phdr) *segment, const ElfW(Phdr) *first,
    const ElfW(Phdr) *last, image_entry *entry) {
  uintptr_t start = image->dlpi_addr + segment->p_vaddr;
  uintptr_t stop = start + segment->p_memsz;
  if (first == NULL || (!image_segment_holds(image, first, start, stop) &&
                        image_segment_of(image, start, stop) == NULL))
    return;
  const unsigned char *note = (const unsigned char *)start;
  size_t left = segment->p_memsz;
  /* Linkers gather notes of 4 and of 8 bytes' alignment in segments of their own, but mold puts
   * both into one of 8: there a note may begin at any multiple of 4, and what it says tells. */
  bool mixed = segment->p_align >= 8;
  uint32_t head[3]; /* sizes of owner and descriptor, type */
  while (left >= sizeof head) {
    memcpy(head, note, sizeof head);
    uint64_t descriptor = (sizeof head + (uint64_t)head[0] + 3) & ~(uint64_t)3;
    uint64_t end = descriptor + head[1];
    bool owned = (head[2] == TYPE || head[2] == RUNTIME_TYPE) && head[0] == sizeof OWNER &&
                 left >= sizeof head + sizeof OWNER &&
                 memcmp(note + sizeof head, OWNER, sizeof OWNER) == 0;
    bool ours = owned && head[2] == TYPE;
    if (owned && !ours) entry->runtime = true;
    if (end > left) {
      if (ours) entry->note = IMAGE_NOTE_SHORT;
      if (ours || !mixed) return;
    } else if (ours) {
      take_note(image, last, entry, note + descriptor, head[1]);
    } else if (head[2] == NT_GNU_BUILD_ID && head[0] == sizeof ELF_NOTE_GNU &&
               memcmp(note + sizeof head, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      take_build_id(entry, note + descriptor, head[1]);
    }
    uint64_t next = mixed ? 4 : (end + 3) & ~(uint64_t)3;
    if (next >= left) return;
    note += next;
    left -= (size_t)next;
  }
}

#endif
