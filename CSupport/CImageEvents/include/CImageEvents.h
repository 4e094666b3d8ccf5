/* The hook that images call when they come and go, and what the runtime learns from it.
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

/* Counts events. Exported, so that a check may be compiled into a caller; written by the hook. */
extern uintptr_t beehive_image_generation __attribute__((visibility("default")));

/* The number of events so far: what a lookup compares before it trusts what it knows. All that an
 * image did before it called the hook is visible to who sees the new number. */
static inline uintptr_t image_events_generation(void) {
  return __atomic_load_n(&beehive_image_generation, __ATOMIC_ACQUIRE);
}

/* An image that has come up: its header, which is its identity as in a walk of the loader's list, and
 * whether the hook has seen to it that it stays mapped. */
typedef struct image_event {
  const void *header;
  bool pinned;
} image_event;

/* Takes up to `capacity` images that have come up off the pending list, latest first, and says how many;
 * call it until it says fewer than `capacity`. An image that went before it was taken is not among them.
 * The nodes themselves are not handed out: one that is not pinned goes with its image, at any moment. */
size_t image_events_take(image_event *events, size_t capacity);

#endif
