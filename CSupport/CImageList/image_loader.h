/* The loader, as the passes see it. A pass of dl_iterate_phdr visits every image in the loader's order
 * while nothing can be unmapped. */
#ifndef IMAGE_LOADER_H
#define IMAGE_LOADER_H

/* Keeps the rare code of a walk out of the code that runs for each image. */
#define IMAGE_RARELY __attribute__((noinline, cold))

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dl_iterate_phdr */
#endif

#include <link.h>

#include "CImageList.h"

/* From 2.35 on, glibc keeps a sorted index of images for exception unwinding. */
#if defined(__GLIBC__) && defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35)
#define IMAGE_HAS_FIND_OBJECT 1
#endif
/* From 2.36 on, it gives the program headers of one image. */
#if __GLIBC_PREREQ(2, 36)
#define IMAGE_HAS_HEADERS_OF 1
#endif
#endif

typedef struct dl_phdr_info loader_image;

#define loader_walk(visit, context) ((void)dl_iterate_phdr(visit, context))

static inline const char *image_name(const loader_image *image) {
  return image->dlpi_name != NULL ? image->dlpi_name : "";
}
/* The loader may be older than the header: it says how much of the structure it fills. */
static inline bool image_counters(
    const loader_image *image, size_t size, uint64_t *adds, uint64_t *subs) {
  if (size < offsetof(struct dl_phdr_info, dlpi_subs) + sizeof image->dlpi_subs) return false;
  *adds = image->dlpi_adds;
  *subs = image->dlpi_subs;
  return true;
}

/* Whether the file's own contents of a segment hold all of [start, stop). Memory past the contents
 * (.bss) holds nothing that a file could declare. */
static inline bool image_segment_holds(
    const loader_image *image, const ElfW(Phdr) *segment, uintptr_t start, uintptr_t stop) {
  uintptr_t low = image->dlpi_addr + segment->p_vaddr;
  return start >= low && start <= stop && stop - low <= segment->p_filesz;
}

/* The readable segment that holds all of [start, stop) in that way; null if none does. */
const ElfW(Phdr) *image_segment_of(const loader_image *image, uintptr_t start, uintptr_t stop);

/* The parts of one image that a scan copies for libelf, as a small ELF file. It has a clean header
 * without sections, the program headers of the notes and of the readable segments that hold them, and
 * the notes. A copied note's p_offset is its place in the capsule. */
typedef struct image_capsule {
  size_t size;       /* of the file, which begins with the header; 0 if the image has no note */
  ElfW(Ehdr) header;
} image_capsule;

/* In the callback: fills an entry from the loader and the image's header, unless it is null, and copies
 * the capsule if there is room. Returns the room that the capsule takes. */
size_t image_capsule_copy(
    const loader_image *image, image_entry *entry, image_capsule *capsule, size_t room);

/* After the pass: has libelf read the capsules, one after the other, each into its entry. False if memory
 * ran out. */
bool image_capsules_read(image_capsule *capsule, image_entry *entries, size_t count);

/* Marks the entries that are not libraries: the first and some others. Not under the loader's lock. */
void image_assign_roles(image_entry *entries, size_t count);

/* The place of an image. */
image_place image_place_of(const loader_image *image);

/* The headers that tell an image from another build; empty if they are not mapped. `header` comes
 * from a scan. */
void image_headers(
    const loader_image *image, uintptr_t header, image_range *main, image_range *program);

/* Finds the readable file contents of the segment that holds all of [start, stop). False if none does. */
bool image_contents(
    const loader_image *image, uintptr_t start, uintptr_t stop, image_range *contents,
    bool *writable);

#endif
