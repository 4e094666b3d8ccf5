/* The notes of one mapped image: its build-id, and where its three sections stand.
 *
 * Every bound is believed only after it was found inside the image: a note is data of a stranger,
 * and tools move it (patchelf) without knowing that its offsets are relative to itself. */
#define _GNU_SOURCE
#if !defined(__APPLE__)

#include <string.h>

#include "image_segments.h"

#define OWNER "Beehive"
#define TYPE 0x42454501u
#define VERSION 1u

/* The descriptor's words: version, flags, image header, then three pairs of bounds. */
enum { WORD_VERSION, WORD_FLAGS, WORD_HEADER, WORD_BOUNDS, WORD_COUNT = WORD_BOUNDS + 6 };

/* The address that word `index` of the descriptor leads to: an offset from the word itself. */
static uintptr_t target(const unsigned char *descriptor, unsigned index) {
  int32_t offset;
  memcpy(&offset, descriptor + index * sizeof offset, sizeof offset);
  return (uintptr_t)descriptor + index * sizeof offset + (uintptr_t)(intptr_t)offset;
}

static enum image_note read_bounds(
    const loader_image *image, const image_entry *entry, bool movable,
    const unsigned char *descriptor, size_t size, image_range *sections) {
  if (size < WORD_COUNT * sizeof(int32_t)) return IMAGE_NOTE_SHORT;
  uint32_t version;
  memcpy(&version, descriptor, sizeof version);
  if (version != VERSION) return IMAGE_NOTE_VERSION;

  /* The header's true place tells by how much a tool has moved the note. In ET_EXEC such tools move
   * the header instead, so there a difference says nothing. */
  uintptr_t moved = entry->header - target(descriptor, WORD_HEADER);
  if (moved != 0 && (entry->header == 0 || !movable)) return IMAGE_NOTE_MOVED;

  const ElfW(Phdr) *segment = NULL;
  for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
    uintptr_t start = target(descriptor, WORD_BOUNDS + 2 * i) + moved;
    uintptr_t stop = target(descriptor, WORD_BOUNDS + 2 * i + 1) + moved;
    sections[i] = (image_range){start, stop};
    if (start == stop) continue;
    if ((start | stop) & 7) return IMAGE_NOTE_MISALIGNED;
    /* The sections are neighbours as a rule, so the last segment is the likely one. */
    if (segment != NULL) {
      uintptr_t low = image->dlpi_addr + segment->p_vaddr;
      if (start >= low && start <= stop && stop - low <= segment->p_filesz) continue;
    }
    segment = image_segment_of(image, start, stop);
    if (segment == NULL) return IMAGE_NOTE_OUT_OF_IMAGE;
  }
  return IMAGE_NOTE_FOUND;
}

static void take_note(
    const loader_image *image, image_entry *entry, bool movable, const unsigned char *descriptor,
    size_t size) {
  image_range sections[IMAGE_SECTION_COUNT] = {{0, 0}, {0, 0}, {0, 0}};
  enum image_note note = read_bounds(image, entry, movable, descriptor, size, sections);
  if (entry->note == IMAGE_NOTE_NONE) {
    entry->note = note;
    memcpy(entry->sections, sections, sizeof sections);
  } else if (entry->note != note || memcmp(entry->sections, sections, sizeof sections) != 0) {
    /* ThinLTO leaves two notes that agree. Two that do not cannot both be true. */
    entry->note = IMAGE_NOTE_DISAGREES;
  }
}

void image_note_read(
    const loader_image *image, const ElfW(Phdr) *segment, image_entry *entry, bool movable) {
  uintptr_t start = image->dlpi_addr + segment->p_vaddr;
  if (start + segment->p_memsz < start ||
      image_segment_of(image, start, start + segment->p_memsz) == NULL)
    return;
  const unsigned char *note = (const unsigned char *)start;
  size_t left = segment->p_memsz;
  /* Linkers gather notes of 4 and of 8 bytes' alignment in segments of their own. */
  size_t align = segment->p_align < 8 ? 4 : 8;
  while (left >= 3 * sizeof(uint32_t)) {
    uint32_t head[3]; /* sizes of owner and descriptor, type */
    memcpy(head, note, sizeof head);
    bool ours = head[2] == TYPE && head[0] == sizeof OWNER &&
                left >= sizeof head + sizeof OWNER &&
                memcmp(note + sizeof head, OWNER, sizeof OWNER) == 0;
    uint64_t descriptor = (sizeof head + (uint64_t)head[0] + align - 1) & ~(uint64_t)(align - 1);
    if (descriptor + head[1] > left) {
      if (ours) entry->note = IMAGE_NOTE_SHORT;
      return;
    }
    const unsigned char *bytes = note + descriptor;
    if (ours) {
      take_note(image, entry, movable, bytes, head[1]);
    } else if (head[2] == NT_GNU_BUILD_ID && head[0] == sizeof ELF_NOTE_GNU &&
               head[1] <= IMAGE_BUILD_ID_LIMIT && entry->build_id_size == 0 &&
               memcmp(note + sizeof head, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0) {
      entry->build_id_size = (uint8_t)head[1];
      memcpy(entry->build_id, bytes, head[1]);
    }
    uint64_t next = (descriptor + head[1] + align - 1) & ~(uint64_t)(align - 1);
    if (next > left) return;
    note += next;
    left -= (size_t)next;
  }
}

#endif
