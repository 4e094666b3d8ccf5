/* The segments of one mapped image, and the images that are not libraries. Called under the loader's lock.
 * Do not call libelf there, because it allocates. */
#define _GNU_SOURCE
#include <sys/auxv.h>

#include "image_loader.h"

void image_assign_roles(image_entry *entries, size_t count) {
  if (count > 0) entries[0].role = IMAGE_ROLE_MAIN;
  uintptr_t vdso = getauxval(AT_SYSINFO_EHDR);
  for (size_t i = 1; i < count && vdso != 0; i++) {
    if (entries[i].header != vdso) continue;
    entries[i].role = IMAGE_ROLE_VDSO;
    break;
  }
}

const ElfW(Phdr) *image_segment_of(const loader_image *image, uintptr_t start, uintptr_t stop) {
  const ElfW(Phdr) *end = image->dlpi_phdr + image->dlpi_phnum;
  for (const ElfW(Phdr) *segment = image->dlpi_phdr; segment != end; segment++)
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_R) &&
        image_segment_holds(image, segment, start, stop))
      return segment;
  return NULL;
}

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
