/* Keeps images mapped for the rest of the process. Everything here takes the loader's own lock, which
 * it holds while constructors run. So no caller may hold a lock that a constructor could want. */
#define _GNU_SOURCE
#include "CImageList.h"

#include <dlfcn.h>
#include <link.h>

#include "image_loader.h"

/* Whether the image of `reference` is the one at `place`, as far as its size tells. */
static bool stands_at(void *reference, const image_place *place) {
  struct link_map *map = NULL;
  if (dlinfo(reference, RTLD_DI_LINKMAP, &map) != 0 || map->l_addr != place->bias ||
      (uintptr_t)map->l_ld != place->dynamic)
    return false;
#ifdef IMAGE_HAS_HEADERS_OF
  const ElfW(Phdr) *headers = NULL;
  int count = dlinfo(reference, RTLD_DI_PHDR, &headers);
  if (count > 0) {
    loader_image image = {
        .dlpi_addr = map->l_addr, .dlpi_phdr = headers, .dlpi_phnum = (ElfW(Half))count};
    return image_place_of(&image).highest == place->highest;
  }
  dlerror(); /* an older loader */
#endif
  return true;
}

/* A reference to the image that has this `name`, if it is the image at `place`: two images may have
 * one relative name. */
static void *take(const image_place *place, const char *name, int flags) {
  void *reference = dlopen(name, RTLD_NOLOAD | RTLD_LAZY | flags);
  if (reference == NULL) {
    dlerror(); /* takes the message away: the thread's next dlerror is about something else */
    return NULL;
  }
  if (stands_at(reference, place)) return reference;
  dlclose(reference);
  return NULL;
}

bool image_pin(const image_place *place, const char *name) {
  void *reference = take(place, name, 0);
  if (reference == NULL) return false;
  /* Only now, because an image that happens to have the same name would stay for ever. */
  void *pin = take(place, name, RTLD_NODELETE);
  dlclose(reference);
  return pin != NULL;
}
