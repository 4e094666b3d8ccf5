/* Asking the program headers of one mapped image. */
#ifndef IMAGE_SEGMENTS_H
#define IMAGE_SEGMENTS_H

#if !defined(__APPLE__)

#include <link.h>

#include "CImageList.h"

/* What the loader says of one image; valid inside its callback. */
typedef struct dl_phdr_info loader_image;

/* The segment of the file's own readable contents that holds all of [start, stop); null if none
 * does. Memory past the contents (.bss) holds nothing that a file could declare. */
static inline const ElfW(Phdr) *image_segment_of(
    const loader_image *image, uintptr_t start, uintptr_t stop) {
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
    if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_R)) continue;
    uintptr_t low = image->dlpi_addr + segment->p_vaddr;
    if (start >= low && start <= stop && stop - low <= segment->p_filesz) return segment;
  }
  return NULL;
}

/* Where an image stands. */
image_place image_place_of(const loader_image *image);

/* Reads the notes of `segment` into the entry: the build-id and the note of this project. */
void image_note_read(
    const loader_image *image, const ElfW(Phdr) *segment, image_entry *entry, bool movable);

#endif
#endif
