/* On Mach-O no image carries an anchor: dyld itself says who comes and goes. Compiled in continuous
 * integration, without an SDK; not run there. */
#if defined(__APPLE__)

#include "CImageEvents.h"

#if __has_include(<mach-o/dyld.h>)
#include <mach-o/dyld.h>
#else
struct mach_header;
void _dyld_register_func_for_add_image(
    void (*function)(const struct mach_header *header, intptr_t slide));
void _dyld_register_func_for_remove_image(
    void (*function)(const struct mach_header *header, intptr_t slide));
#endif

/* A lookup compares the number and walks dyld's list; there is nothing to hand over. */
static void count(const struct mach_header *header, intptr_t slide) {
  (void)header;
  (void)slide;
  __atomic_add_fetch(&beehive_image_generation, 1, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void follow_dyld(void) {
  _dyld_register_func_for_add_image(count);
  _dyld_register_func_for_remove_image(count);
}

#endif
