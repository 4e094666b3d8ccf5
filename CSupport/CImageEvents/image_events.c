/* The hook and its pending list.
 *
 * The hook runs inside constructors, under the loader's lock, in processes that may never use a
 * Hive. So it allocates nothing and runs no Swift. It takes one lock, holds that for a few
 * instructions, and never across a call. */
#define _GNU_SOURCE
#include "CImageEvents.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "CImageList.h"

/* Says that a runtime is in this image, so that a second one in a process can be noticed. It is
 * next to the hook: an image that links a copy of the hook links a copy of this. */
__asm__(".pushsection .note.beehive,\"aR\",%note\n"
        ".balign 4\n"
        ".long 8, 4, 0x42454502\n"
        ".asciz \"Beehive\"\n"
        ".long 1\n"
        ".popsection\n");
_Static_assert(BEEHIVE_RUNTIME_NOTE_TYPE == 0x42454502, "the assembler text says that");

/* A node's `state`. */
enum { STATE_ABSENT, STATE_PENDING, STATE_PENDING_PINNED, STATE_TAKEN };

uintptr_t beehive_image_generation;

static beehive_image *pending;
static bool busy;

static void hold(void) {
  for (unsigned tries = 1; __atomic_test_and_set(&busy, __ATOMIC_ACQUIRE); tries++)
    if (tries % 64 == 0) sched_yield(); /* who holds it was interrupted */
}

static void release(void) { __atomic_clear(&busy, __ATOMIC_RELEASE); }

static void link_node(beehive_image *image) {
  image->next = pending;
  image->link = &pending;
  if (pending != NULL) pending->link = &image->next;
  pending = image;
}

static void unlink_node(beehive_image *image) {
  *image->link = image->next;
  if (image->next != NULL) image->next->link = image->link;
  image->next = NULL;
  image->link = NULL;
}

/* An image that registers stays mapped, because others keep pointers into it, and Swift's runtime does.
 * Here, before `dlopen` returns, no `dlclose` can have come first. If the loader does not find the image
 * by its name, the runtime pins it when it takes it. */
static bool pin(const beehive_image *image) {
  image_place place;
  const char *name = image_place_find(image, &place);
  /* The main program stays anyway. */
  return name != NULL && (*name == 0 || image_pin(&place, name));
}

__attribute__((visibility("default"))) void beehive_image_event(beehive_image *image, int event) {
  /* A node of another version may have its fields elsewhere, so only a walk finds the image. */
  bool known = image->version == BEEHIVE_IMAGE_VERSION && image->size >= sizeof *image;
  bool pinned = known && event == BEEHIVE_IMAGE_UP && pin(image);
  hold();
  if (known && event == BEEHIVE_IMAGE_UP) {
    if (image->state == STATE_ABSENT) {
      link_node(image);
      image->state = pinned ? STATE_PENDING_PINNED : STATE_PENDING;
    }
  } else if (known) {
    if (image->state == STATE_PENDING || image->state == STATE_PENDING_PINNED) unlink_node(image);
    image->state = STATE_ABSENT;
  }
  release();
  __atomic_add_fetch(&beehive_image_generation, 1, __ATOMIC_RELEASE);
}

/* The image that has the runtime is Swift's as well, so it stays mapped after dlclose. */
__attribute__((constructor)) static void stay(void) {
  Dl_info own;
  if (dladdr((void *)stay, &own) == 0) return;
  if (dlopen(own.dli_fname, RTLD_NOLOAD | RTLD_LAZY | RTLD_NODELETE) == NULL)
    dlerror(); /* the main program, which stays anyway */
}

/* A child must not inherit the flag set by a thread that it does not have. Registered at the first
 * taking: before that only the hook sets the flag, under a lock of the loader with the same trouble. */
static void survive_fork(void) {
  static bool said;
  if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED)) pthread_atfork(hold, release, release);
}

size_t image_events_take(image_event *events, size_t capacity) {
  survive_fork();
  size_t count = 0;
  while (count < capacity) {
    hold();
    beehive_image *image = pending;
    if (image != NULL) {
      unlink_node(image);
      events[count] = (image_event){image->header, image->state == STATE_PENDING_PINNED};
      image->state = STATE_TAKEN;
    }
    release();
    if (image == NULL) break;
    count++;
  }
  return count;
}
