/* Tells whether an image has the values that the loader gives it.
 *
 * An image is in the loader's list before it is relocated. Waiting for the loader's lock would tell
 * when it is. But that lock is held while constructors run, and a constructor may be waiting for us.
 * So if the loader itself says that it is done with an image, we ask repeatedly. */
#include "image_loader.h"

#include <dlfcn.h>

#ifdef IMAGE_HAS_FIND_OBJECT

#include <time.h>

/* dlopen puts an image into the index of glibc after it has relocated it, and before the first
 * constructor; the index is written with release order. The link map that it names is not read,
 * because another thread may be freeing it. */
bool image_is_relocated(uintptr_t address) {
  struct dl_find_object found;
  return _dl_find_object((void *)address, &found) == 0;
}

bool image_relocation_is_told(void) { return true; }

static int find(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const image_place *wanted = context;
  if (info->dlpi_addr != wanted->bias) return 0;
  image_place place = image_place_of(info);
  return place.dynamic == wanted->dynamic && place.lowest == wanted->lowest;
}

void image_wait_for_relocation(const image_place *place) {
  struct timespec pause = {.tv_nsec = 20000};
  while (!image_is_relocated(place->lowest) &&
         dl_iterate_phdr(find, (void *)place) != 0) {
    nanosleep(&pause, NULL);
    if (pause.tv_nsec < 1000000) pause.tv_nsec *= 2;
  }
}

#else

/* Other loaders do not say. They have relocated everything when no thread is inside them. */
bool image_is_relocated(uintptr_t address) {
  (void)address;
  return false;
}

bool image_relocation_is_told(void) { return false; }

void image_wait_for_relocation(const image_place *place) {
  (void)place;
  void *program = dlopen(NULL, RTLD_LAZY);
  if (program != NULL) dlclose(program);
}

#endif
