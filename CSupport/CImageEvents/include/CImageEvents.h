/* The hook that images call when they come and go, and the events that the runtime gets from it.
 *
 *   if (image_events_generation() != seen) { … image_events_take(…) … }
 *
 * The one definition of `beehive_image_event` in a process is here, in libBeeHive.so. */
#ifndef CIMAGE_EVENTS_H
#define CIMAGE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "beehive/image.h"

/* Counts events. The hook writes it. It is exported so that a check may be compiled into a caller. */
extern uintptr_t beehive_image_generation __attribute__((visibility("default")));

/* The number of events so far. A lookup compares it before it trusts what it knows. Whoever sees the
 * new number also sees all that an image did before it called the hook. */
static inline uintptr_t image_events_generation(void) {
  return __atomic_load_n(&beehive_image_generation, __ATOMIC_ACQUIRE);
}

/* An image that has come up: its header, which identifies it as in a walk of the loader's list, and
 * whether the hook keeps it mapped. */
typedef struct image_event {
  const void *header;
  bool pinned;
} image_event;

/* Takes up to `capacity` images that have come up off the pending list, latest first. Returns their number;
 * call it until that is less than `capacity`. Leaves out images that have gone already. Does not hand out
 * the nodes, because a node that is not pinned goes with its image, at any moment. */
size_t image_events_take(image_event *events, size_t capacity);

#endif
