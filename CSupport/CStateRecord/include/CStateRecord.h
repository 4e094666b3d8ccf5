/* The state that the Hive of this process gave each entry, for readers of the process's memory: a debugger,
 * a core file or `section-dump live`. It is a table, because such readers cannot call code there.
 *
 *   int32_t image = state_record_image(bias);
 *   int32_t entry = state_record_entry(image, 2, 0);
 *   state_record_set(entry, STATE_REJECTED, "duplicate", "libshop.so already provides it");
 *
 * Section "The state record" of CSupport/RecordLayout.md. One writer at a time, under the Hive's lock. */
#ifndef CSTATE_RECORD_H
#define CSTATE_RECORD_H

#include <stdint.h>

#define STATE_RECORD_VERSION 1u
#define STATE_RECORD_NOTE_TYPE 0x42454503

/* The meaning of a cell. */
enum {
  STATE_VACANT,
  STATE_BOUND,
  STATE_ACCEPTED,
  STATE_REJECTED,
  STATE_WITHDRAWN,
  STATE_IMAGE, /* the image has been taken in: its entries without a cell are accepted, not made */
};

/* The same in every ELF class: addresses have eight bytes. */
typedef struct state_cell {
  uint64_t bias;        /* of the image */
  uint64_t reason;      /* address of two texts, code and message, each with its NUL; or 0 */
  uint32_t reason_size; /* of both, with the NULs */
  uint32_t index;       /* of the entry in its section */
  uint32_t next;        /* the writer's; 0 */
  uint16_t section;     /* 0 BeehiveMods, 1 BeehiveServices, 2 BeehiveRecords */
  uint16_t state;
} state_cell;

typedef struct state_record {
  uint32_t size; /* of this structure; 0 while there is no Hive */
  uint32_t version;
  uint32_t sequence; /* odd while something changes; another after each change */
  uint32_t flags;
  uint32_t cell_size;
  uint32_t cell_count;
  uint64_t cells; /* address of the first */
} state_record;

/* There was no memory for some cell: the state of its entry is unknown. */
#define STATE_RECORD_INCOMPLETE 1u

/* Begins with an image. Returns the number of its cell, negative if there is no memory. */
int32_t state_record_image(uint64_t bias);

/* Adds an entry of an image. Returns the number of its cell, negative if there is no memory. */
int32_t state_record_entry(int32_t image, uint16_t section, uint32_t index);

/* Sets the state of an entry; code and message are copied, or both null. */
void state_record_set(int32_t cell, uint16_t state, const char *code, const char *message);

#endif
