/* Reads the capsules that a scan has copied with libelf: right after the pass, in the same call, when
 * the loader's lock is no longer held.
 *
 *   elf_memory               opens the capsule of one image
 *   gelf_getphdr             the segments of its notes, then those that are readable
 *   elf_getdata_rawchunk     the notes of one segment
 *   gelf_getnote             our own note, the build-id, the note of a runtime
 *
 * A capsule has nothing but what was copied, so no count of a foreign file reaches libelf. The contents
 * of a note are foreign all the same: tools move it (patchelf) without knowing that its offsets are
 * relative to itself. They are believed only inside the segments of the image.
 *
 * libelf keeps an error for each thread, and a handle is used by one thread, so several threads may be
 * in here. */
#define _GNU_SOURCE
#include <errno.h>
#include <gelf.h>
#include <pthread.h>
#include <string.h>

#include "image_loader.h"

#define OWNER "Beehive"
#define TYPE 0x42454501u
#define VERSION 1u
#define RUNTIME_TYPE 0x42454502u

/* The descriptor's words: version, flags, image header, then three pairs of bounds. */
enum { WORD_VERSION, WORD_FLAGS, WORD_HEADER, WORD_BOUNDS, WORD_COUNT = WORD_BOUNDS + 6 };

/* One capsule while it is read. */
struct reading {
  Elf *elf;
  image_entry *entry;
  GElf_Phdr last; /* of the readable segments */
};

/* The descriptor of a note: its copy, and where it is in the image. */
struct descriptor {
  const unsigned char *bytes;
  size_t size;
  uintptr_t address;
};

/* The address that word `index` leads to: an offset from the word itself. */
static uintptr_t target(const struct descriptor *descriptor, unsigned index) {
  int32_t offset;
  memcpy(&offset, descriptor->bytes + index * sizeof offset, sizeof offset);
  return descriptor->address + index * sizeof offset + (uintptr_t)(intptr_t)offset;
}

static bool is_known(const struct descriptor *descriptor) {
  uint32_t version;
  if (descriptor->size < WORD_COUNT * sizeof(int32_t)) return false;
  memcpy(&version, descriptor->bytes, sizeof version);
  return version == VERSION;
}

/* Whether one readable segment's file contents hold all of a range. */
static bool is_in_image(const struct reading *reading, image_range range) {
  GElf_Phdr segment;
  for (int i = 0; gelf_getphdr(reading->elf, i, &segment) != NULL; i++) {
    uintptr_t low = reading->entry->bias + (uintptr_t)segment.p_vaddr;
    if (segment.p_type == PT_LOAD && range.start >= low && range.start <= range.stop &&
        range.stop - low <= segment.p_filesz)
      return true;
  }
  return false;
}

static bool is_program(const struct reading *reading) {
  GElf_Ehdr header;
  return gelf_getehdr(reading->elf, &header) != NULL && header.e_type == ET_EXEC;
}

static IMAGE_RARELY enum image_note read_bounds(
    const struct reading *reading, const struct descriptor *descriptor, image_range *sections) {
  if (descriptor->size < WORD_COUNT * sizeof(int32_t)) return IMAGE_NOTE_SHORT;
  if (!is_known(descriptor)) return IMAGE_NOTE_VERSION;

  /* The header's true place shows how far a tool has moved the note. In ET_EXEC such tools move the
   * header instead, so there a difference shows nothing. */
  uintptr_t header = reading->entry->header;
  uintptr_t moved = header - target(descriptor, WORD_HEADER);
  if (moved != 0 && (header == 0 || is_program(reading))) return IMAGE_NOTE_MOVED;

  for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
    uintptr_t start = target(descriptor, WORD_BOUNDS + 2 * i) + moved;
    uintptr_t stop = target(descriptor, WORD_BOUNDS + 2 * i + 1) + moved;
    sections[i] = (image_range){start, stop};
    if (start == stop) continue;
    if ((start | stop) & 7) return IMAGE_NOTE_MISALIGNED;
    if (!is_in_image(reading, sections[i])) return IMAGE_NOTE_OUT_OF_IMAGE;
  }
  return IMAGE_NOTE_FOUND;
}

static IMAGE_RARELY void take_unusual(
    const struct reading *reading, const struct descriptor *descriptor) {
  image_entry *entry = reading->entry;
  if (entry->note == IMAGE_NOTE_NONE) {
    entry->note = (uint8_t)read_bounds(reading, descriptor, entry->sections);
    return;
  }
  /* ThinLTO leaves two notes that agree. Two notes that disagree cannot both be true. */
  image_range sections[IMAGE_SECTION_COUNT];
  enum image_note note = read_bounds(reading, descriptor, sections);
  if (note != entry->note || (note == IMAGE_NOTE_FOUND &&
                              memcmp(sections, entry->sections, sizeof sections) != 0))
    entry->note = IMAGE_NOTE_DISAGREES;
}

/* Usually a note is where it was linked, and its sections, even the empty ones, are next to each
 * other in the `last` readable segment. */
static void take_note(const struct reading *reading, const struct descriptor *descriptor) {
  image_entry *entry = reading->entry;
  if (entry->note == IMAGE_NOTE_NONE && is_known(descriptor) &&
      target(descriptor, WORD_HEADER) == entry->header) {
    uintptr_t low = entry->bias + (uintptr_t)reading->last.p_vaddr, bits = 0;
    bool is_there = true;
    for (unsigned i = 0; i < IMAGE_SECTION_COUNT; i++) {
      uintptr_t start = target(descriptor, WORD_BOUNDS + 2 * i);
      uintptr_t stop = target(descriptor, WORD_BOUNDS + 2 * i + 1);
      entry->sections[i] = (image_range){start, stop};
      bits |= start | stop;
      is_there &= start - low <= stop - low && stop - low <= reading->last.p_filesz;
    }
    if (is_there && (bits & 7) == 0) {
      entry->note = IMAGE_NOTE_FOUND;
      return;
    }
  }
  take_unusual(reading, descriptor);
}

static void take_build_id(image_entry *entry, const struct descriptor *descriptor) {
  if (descriptor->size > IMAGE_BUILD_ID_LIMIT || entry->build_id_size != 0) return;
  entry->build_id_size = (uint8_t)descriptor->size;
  memcpy(entry->build_id, descriptor->bytes, descriptor->size);
}

/* A note's name, its NUL included, is that one. */
#define IS_NAMED(note, bytes, name) \
  ((note).n_namesz == sizeof(name) && memcmp(bytes, name, sizeof(name)) == 0)

/* Whether our own note begins at `place` but does not end in the segment. gelf_getnote finds no such
 * note, and does not report a part of it. */
static IMAGE_RARELY bool is_cut(const unsigned char *bytes, size_t size, size_t place) {
  ElfW(Nhdr) note;
  if (size - place < sizeof note + sizeof OWNER) return false;
  memcpy(&note, bytes + place, sizeof note);
  return note.n_type == TYPE && IS_NAMED(note, bytes + place + sizeof note, OWNER);
}

/* The notes of one segment. False if libelf does not read them. */
static bool read_notes(const struct reading *reading, const GElf_Phdr *segment) {
  image_entry *entry = reading->entry;
  size_t size = (size_t)segment->p_filesz;
  /* The last note may lack its padding; the capsule has it. */
  Elf_Data *data = elf_getdata_rawchunk(
      reading->elf, (int64_t)segment->p_offset, (size + 3) & ~(size_t)3, ELF_T_NHDR);
  if (data == NULL) return false;
  const unsigned char *bytes = data->d_buf;
  /* Linkers gather notes with alignments of 4 and of 8 bytes in segments of their own. But mold puts
   * both into one of 8. There a note may begin at any multiple of 4. Notes of a known owner are picked
   * out, each up to its end. So the type is never ELF_T_NHDR8. */
  bool mixed = segment->p_align >= 8;
  GElf_Nhdr note;
  size_t next, name, start;
  for (size_t place = 0; place < size && size - place >= sizeof note; place = next) {
    next = gelf_getnote(data, place, &note, &name, &start);
    if (next == 0 || start + note.n_descsz > size) {
      if (is_cut(bytes, size, place)) {
        entry->note = IMAGE_NOTE_SHORT;
        return true;
      }
      if (!mixed) return true;
      next = place + 4;
      continue;
    }
    struct descriptor descriptor = {
        bytes + start, note.n_descsz, entry->bias + (uintptr_t)segment->p_vaddr + start};
    if (note.n_type == NT_GNU_BUILD_ID && IS_NAMED(note, bytes + name, ELF_NOTE_GNU))
      take_build_id(entry, &descriptor);
    else if (note.n_type == TYPE && IS_NAMED(note, bytes + name, OWNER))
      take_note(reading, &descriptor);
    else if (note.n_type == RUNTIME_TYPE && IS_NAMED(note, bytes + name, OWNER))
      entry->runtime = true;
    else if (mixed && !IS_NAMED(note, bytes + name, ELF_NOTE_GNU))
      next = place + 4;
  }
  return true;
}

/* False if libelf does not open or read the capsule. */
static bool read_capsule(image_capsule *capsule, image_entry *entry) {
  struct reading reading = {.elf = elf_memory((char *)&capsule->header, capsule->size), .entry = entry};
  GElf_Phdr segment;
  int last = capsule->header.e_phnum - 1;
  bool is_read = reading.elf != NULL && gelf_getphdr(reading.elf, last, &reading.last) != NULL;
  for (int i = 0; is_read; i++) {
    is_read = gelf_getphdr(reading.elf, i, &segment) != NULL;
    if (!is_read || segment.p_type != PT_NOTE) break;
    is_read = read_notes(&reading, &segment);
  }
  elf_end(reading.elf);
  return is_read;
}

static bool is_libelf_ready;

static void prepare_libelf(void) { is_libelf_ready = elf_version(EV_CURRENT) != EV_NONE; }

bool image_capsules_read(image_capsule *capsule, image_entry *entries, size_t count) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare_libelf);
  for (image_entry *entry = entries; entry != entries + count; entry++) {
    errno = 0;
    if (capsule->size > 0 && !(is_libelf_ready && read_capsule(capsule, entry))) {
      /* The next update may have the memory. A capsule that libelf does not open, it never opens. */
      if (errno == ENOMEM) return false;
      entry->note = IMAGE_NOTE_UNREAD;
    }
    capsule = (image_capsule *)((char *)&capsule->header + capsule->size);
  }
  return true;
}
