/* What the program headers of one mapped image say. */
#define _GNU_SOURCE
#if !defined(__APPLE__)

#include <string.h>
#include <sys/auxv.h>

#include "image_loader.h"

/* More PT_NOTE than any linker writes; the rest is not looked at. */
#define NOTE_LIMIT 8

/* A walk costs what stands here, once per image: so it is one
 * loop over the program headers, and every field is written once. */
void image_describe(
    const loader_image *image, size_t position, uintptr_t vdso, image_entry *entry) {
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
  entry->runtime = false;
  entry->role = position == 0                 ? IMAGE_ROLE_MAIN
                : entry->header == vdso && header ? IMAGE_ROLE_VDSO
                                                    : IMAGE_ROLE_LIBRARY;
  for (unsigned i = 0; i < note_count; i++)
    image_note_read(image, notes[i], first, last, entry);
}

uintptr_t loader_vdso(void) { return getauxval(AT_SYSINFO_EHDR); }

void image_headers(
    const loader_image *image, uintptr_t header, image_range *main, image_range *program) {
  uintptr_t end = header + sizeof(ElfW(Ehdr));
  *main = image_segment_of(image, header, end) != NULL ? (image_range){header, end}
                                                       : (image_range){0, 0};
  uintptr_t headers = (uintptr_t)image->dlpi_phdr;
  *program = (image_range){headers, headers + image->dlpi_phnum * sizeof(ElfW(Phdr))};
}

bool image_contents(
    const loader_image *image, uintptr_t start, uintptr_t stop, image_range *contents,
    bool *writable) {
  const ElfW(Phdr) *segment = image_segment_of(image, start, stop);
  if (segment == NULL) return false;
  contents->start = image->dlpi_addr + segment->p_vaddr;
  contents->stop = contents->start + segment->p_filesz;
  *writable = segment->p_flags & PF_W;
  return true;
}

#endif
