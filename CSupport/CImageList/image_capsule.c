/* The parts of one image that a scan copies, inside the callback of dl_iterate_phdr.
 *
 * libelf allocates, and an allocator may walk the loader's list under a lock of its own. So libelf does not
 * run in the callback. The callback copies into a capsule what libelf reads afterwards. Program headers are
 * foreign data, so a note is copied only from the file contents of a readable segment. */
#define _GNU_SOURCE
#include <string.h>

#include "image_loader.h"

/* More PT_NOTE than any linker writes; the rest is ignored. */
#define NOTE_LIMIT 8

/* The most bytes of one PT_NOTE that are copied: nobody writes longer ones. */
#define NOTE_SIZE_LIMIT ((size_t)65536)

/* The parts of one image to copy. */
struct selection {
  const ElfW(Ehdr) *header; /* null where no readable segment holds it */
  const ElfW(Phdr) *first;  /* of the readable segments */
  size_t segment_count;
  const ElfW(Phdr) *notes[NOTE_LIMIT];
  size_t note_count;
};

static bool is_readable(const ElfW(Phdr) *segment) {
  return segment->p_type == PT_LOAD && (segment->p_flags & PF_R);
}

static size_t note_size(const ElfW(Phdr) *note) {
  return note->p_memsz < NOTE_SIZE_LIMIT ? note->p_memsz : NOTE_SIZE_LIMIT;
}

static size_t rounded(size_t size) { return (size + 7) & ~(size_t)7; }

static const ElfW(Ehdr) *header_in(const loader_image *image, const ElfW(Phdr) *first) {
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(image->dlpi_addr + first->p_vaddr);
  bool is_there = first->p_offset == 0 && first->p_filesz >= sizeof *header &&
                  memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
  return is_there ? header : NULL;
}

static bool is_held(const loader_image *image, const ElfW(Phdr) *first, const ElfW(Phdr) *note) {
  uintptr_t start = image->dlpi_addr + note->p_vaddr, stop = start + note->p_memsz;
  return start != stop && (image_segment_holds(image, first, start, stop) ||
                           image_segment_of(image, start, stop) != NULL);
}

static void find(const loader_image *image, struct selection *found) {
  found->first = NULL;
  found->segment_count = 0;
  const ElfW(Phdr) *end = image->dlpi_phdr + image->dlpi_phnum;
  size_t note_count = 0;
  for (const ElfW(Phdr) *segment = image->dlpi_phdr; segment != end; segment++) {
    if (segment->p_type == PT_NOTE && note_count < NOTE_LIMIT)
      found->notes[note_count++] = segment;
    if (is_readable(segment) && found->segment_count++ == 0) found->first = segment;
  }
  /* libelf would look for a count of PN_XNUM in a section, and a capsule has none. */
  if (found->segment_count >= PN_XNUM - NOTE_LIMIT) found->segment_count = PN_XNUM - NOTE_LIMIT - 1;
  found->note_count = 0;
  found->header = NULL;
  if (found->first == NULL) return; /* nothing of it can be read */
  for (size_t i = 0; i < note_count; i++)
    if (is_held(image, found->first, found->notes[i]))
      found->notes[found->note_count++] = found->notes[i];
  found->header = header_in(image, found->first);
}

static void describe(const loader_image *image, const ElfW(Ehdr) *header, image_entry *entry) {
  *entry = (image_entry){
      .bias = image->dlpi_addr,
      .header = (uintptr_t)header,
      .program_headers = (uintptr_t)image->dlpi_phdr,
      .layout = header != NULL ? header->e_shoff ^ ((uint64_t)header->e_entry << 32) : 0,
      .name = entry->name,
  };
}

/* The header of a capsule: this process's class and order, the image's machine and type, no sections. */
static ElfW(Ehdr) header_of(const struct selection *selection) {
  const ElfW(Ehdr) *image = selection->header;
  return (ElfW(Ehdr)){
      .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
                  __ELF_NATIVE_CLASS == 64 ? ELFCLASS64 : ELFCLASS32,
                  __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT},
      .e_type = image != NULL ? image->e_type : ET_NONE,
      .e_machine = image != NULL ? image->e_machine : EM_NONE,
      .e_version = EV_CURRENT,
      .e_ehsize = sizeof(ElfW(Ehdr)),
      .e_phoff = sizeof(ElfW(Ehdr)),
      .e_phentsize = sizeof(ElfW(Phdr)),
      .e_phnum = (ElfW(Half))(selection->segment_count + selection->note_count),
  };
}

static void fill(
    const loader_image *image, const struct selection *selection, image_capsule *capsule) {
  capsule->header = header_of(selection);
  ElfW(Phdr) *header = (ElfW(Phdr) *)(&capsule->header + 1);
  ElfW(Phdr) *segments = header + selection->note_count, *end = segments + selection->segment_count;
  unsigned char *bytes = (unsigned char *)end;
  for (size_t i = 0; i < selection->note_count; i++, header++) {
    size_t size = note_size(selection->notes[i]);
    *header = *selection->notes[i];
    header->p_offset = (ElfW(Off))(bytes - (unsigned char *)&capsule->header);
    header->p_filesz = size;
    memset(bytes + rounded(size) - 8, 0, 8); /* the padding of the last note */
    memcpy(bytes, (const void *)(image->dlpi_addr + header->p_vaddr), size);
    bytes += rounded(size);
  }
  for (const ElfW(Phdr) *segment = selection->first; header != end; segment++)
    if (is_readable(segment)) *header++ = *segment;
}

size_t image_capsule_copy(
    const loader_image *image, image_entry *entry, image_capsule *capsule, size_t room) {
  struct selection selection;
  find(image, &selection);
  if (entry != NULL) describe(image, selection.header, entry);
  size_t size = 0;
  for (size_t i = 0; i < selection.note_count; i++) size += rounded(note_size(selection.notes[i]));
  if (size > 0)
    size += sizeof capsule->header +
            (selection.segment_count + selection.note_count) * sizeof(ElfW(Phdr));
  size_t needed = offsetof(image_capsule, header) + size;
  if (needed > room) return needed;
  capsule->size = size;
  if (size > 0) fill(image, &selection, capsule);
  return needed;
}
