/* Asking the program headers of one mapped image. */
#ifndef IMAGE_SEGMENTS_H
#define IMAGE_SEGMENTS_H

#if !defined(__APPLE__)

#include <link.h>

#include "CImageList.h"

/* What the loader says of one image; valid inside its callback. */
typedef struct dl_phdr_info loader_image;

/* Whether the file's own contents of a segment hold all of [start, stop). Memory past the contents
 * (.bss) holds nothing that a file could declare. */
static inline bool image_segment_holds(
    const loader_image *image, const ElfW(Phdr) *segment, uintptr_t start, uintptr_t stop) {
  uintptr_t low = image->dlpi_addr + segment->p_vaddr;
  return start >= low && start <= stop && stop - low <= segment->p_filesz;
}

/* The readable segment that holds all of [start, stop) in that way; null if none does. */
static inline const ElfW(Phdr) *image_segment_of(
    const loader_image *image, uintptr_t start, uintptr_t stop) {
  const ElfW(Phdr) *end = image->dlpi_phdr + image->dlpi_phnum;
  for (const ElfW(Phdr) *segment = image->dlpi_phdr; segment != end; segment++)
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
        image_segment_holds(image, segment, start, stop))
      return segment;
  return NULL;
}

/* Where an image stands. */
image_place image_place_of(const loader_image *image);

/* Reads the notes of `segment` into the entry, whose header is known already: the build-id and the
 * note of this project. `first` and `last` are readable segments, looked at before all others. */
void image_note_read(
    const loader_image *image, const ElfW(Phdr) *segment, const ElfW(Phdr) *first,
    const ElfW(Phdr) *last, image_entry *entry);

#endif
#endif
