/* What an image tells a running process about itself: the node it hands over when it is loaded,
 * the hook that receives the node, and the note that says where its entries are.
 *
 *   void beehive_image_event(beehive_image *image, int event) {   // the runtime's
 *     if (event == BEEHIVE_IMAGE_UP) remember(image->records, image->records_end);
 *   }
 *
 * Sections "The note", "The node" and "The hook" of CSupport/RecordLayout.md. */
#ifndef BEEHIVE_IMAGE_H
#define BEEHIVE_IMAGE_H

#include "portability.h"

#define BEEHIVE_IMAGE_VERSION 1
#define BEEHIVE_IMAGE_DOWN 0 /* the image is about to go; its memory must not be touched again */
#define BEEHIVE_IMAGE_UP 1   /* the image is mapped and relocated */

#define BEEHIVE_NOTE_SECTION ".note.beehive"
#define BEEHIVE_NOTE_OWNER "Beehive"
#define BEEHIVE_NOTE_TYPE 0x42454501
#define BEEHIVE_NOTE_VERSION 1

/* The second note of that section and owner, in an image that has a runtime in it: libBeeHive.so. */
#define BEEHIVE_RUNTIME_NOTE_TYPE 0x42454502

BEEHIVE_C_BEGIN

/* One per image, in its zero-initialised data. The image writes everything except the three fields
 * of the runtime. A range whose start equals its end is an empty section. */
typedef struct beehive_image {
  uint32_t size; /* of this structure; 0 while the image is not announced */
  uint32_t version;
  struct beehive_image *next;  /* the runtime's: its pending list */
  struct beehive_image **link; /* the runtime's: what points to this node */
  const void *header;          /* the image's ELF header: its identity in this process */
  const void *mods;
  const void *mods_end;
  const void *services;
  const void *services_end;
  const void *records;
  const void *records_end;
  uint32_t flags; /* 0 */
  uint32_t state; /* the runtime's: 0 until it has seen the image */
} beehive_image;

/* The descriptor of the note. Each offset is relative to its own field, so it needs no relocation
 * and is true on disk and in memory. */
typedef struct beehive_note_descriptor {
  uint32_t version;
  uint32_t flags;
  int32_t image_header; /* a tool that moves notes breaks this one too: that is how one notices */
  int32_t mods_start;
  int32_t mods_stop;
  int32_t services_start;
  int32_t services_stop;
  int32_t records_start;
  int32_t records_stop;
} beehive_note_descriptor;

/* Weak: in a process without a runtime it is null and the image does not announce itself.
 * Default visibility, stated, because it must leave the image even inside a
 * `#pragma GCC visibility push(hidden)`. */
extern void beehive_image_event(beehive_image *image, int event)
    __attribute__((__weak__, __visibility__("default")));

BEEHIVE_C_END

#endif
