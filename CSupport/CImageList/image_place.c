/* Where one image stands, and which image an address belongs to. */
#define _GNU_SOURCE
#if !defined(__APPLE__)

#include <dlfcn.h>

#include "image_loader.h"

image_place image_place_of(const loader_image *image) {
  image_place place = {.bias = image->dlpi_addr, .lowest = UINTPTR_MAX};
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
    uintptr_t low = image->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_DYNAMIC) place.dynamic = low;
    if (segment->p_type != PT_LOAD) continue;
    if (low < place.lowest) place.lowest = low;
    if (low + segment->p_memsz > place.highest) place.highest = low + segment->p_memsz;
  }
  return place;
}

#ifdef IMAGE_HAS_FIND_OBJECT

/* The index needs no lock and no walk. */
const char *image_place_find(const void *address, image_place *place) {
  struct dl_find_object found;
  if (_dl_find_object((void *)address, &found) != 0) return NULL;
  *place = (image_place){
      .bias = found.dlfo_link_map->l_addr,
      .dynamic = (uintptr_t)found.dlfo_link_map->l_ld,
      .lowest = (uintptr_t)found.dlfo_map_start,
      .highest = (uintptr_t)found.dlfo_map_end,
  };
  return found.dlfo_link_map->l_name;
}

#else

struct search {
  uintptr_t address;
  image_place *place;
  const char *name;
};

static int compare(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  image_place place = image_place_of(info);
  if (search->address < place.lowest || search->address >= place.highest) return 0;
  *search->place = place;
  search->name = info->dlpi_name;
  return 1;
}

const char *image_place_find(const void *address, image_place *place) {
  struct search search = {.address = (uintptr_t)address, .place = place};
  dl_iterate_phdr(compare, &search);
  return search.name;
}

#endif
#endif
