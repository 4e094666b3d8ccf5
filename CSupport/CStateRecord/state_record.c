/* The state record and the note that leads to it.
 *
 * Written in C, because the record has a fixed layout and a place that a note can name. A change costs
 * a few stores. Only a reason costs an allocation. */
#include "CStateRecord.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(state_cell) == 32 && sizeof(state_record) == 32, "the same in every class");
_Static_assert(offsetof(state_cell, state) == 30 && offsetof(state_record, cells) == 24, "likewise");

/* Only the note names it, so that no other copy in the process can take its place. */
__attribute__((visibility("hidden"), used)) state_record beehive_state_record;

__asm__(".hidden __ehdr_start\n"
        ".pushsection .note.beehive,\"aR\",%note\n"
        ".balign 4\n"
        ".long 8, 12, 0x42454503\n"
        ".asciz \"Beehive\"\n"
        ".long 1\n"
        ".long __ehdr_start - .\n"
        ".long beehive_state_record - .\n"
        ".popsection\n");
_Static_assert(STATE_RECORD_NOTE_TYPE == 0x42454503, "the assembler text says that");

static uint32_t capacity;

static state_cell *cell_at(uint32_t number) {
  return (state_cell *)(uintptr_t)beehive_state_record.cells + number;
}

/* Data that a reader copies between two equal, even numbers is of one moment. */
static void begin(void) {
  uint32_t *sequence = &beehive_state_record.sequence;
  __atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end(void) {
  uint32_t *sequence = &beehive_state_record.sequence;
  __atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELEASE);
}

/* Takes a new cell. Returns its number, or -1. Images stay mapped, so cells are never taken back. */
static int32_t take(void) {
  state_record *record = &beehive_state_record;
  if (record->cell_count == capacity) {
    uint32_t larger = capacity == 0 ? 64 : 2 * capacity;
    void *cells = larger > INT32_MAX / 2
                      ? NULL
                      : realloc((void *)(uintptr_t)record->cells, larger * sizeof(state_cell));
    if (cells == NULL) {
      record->flags |= STATE_RECORD_INCOMPLETE;
      return -1;
    }
    record->cells = (uintptr_t)cells;
    capacity = larger;
  }
  return (int32_t)record->cell_count++;
}

int32_t state_record_image(uint64_t bias) {
  state_record *record = &beehive_state_record;
  begin();
  record->size = sizeof *record;
  record->version = STATE_RECORD_VERSION;
  record->cell_size = sizeof(state_cell);
  int32_t number = take();
  if (number >= 0) *cell_at((uint32_t)number) = (state_cell){.bias = bias, .state = STATE_IMAGE};
  end();
  return number;
}

int32_t state_record_entry(int32_t image, uint16_t section, uint32_t index) {
  begin();
  int32_t number = take();
  if (number >= 0)
    *cell_at((uint32_t)number) = (state_cell){
        .bias = cell_at((uint32_t)image)->bias,
        .index = index,
        .section = section,
        .state = STATE_ACCEPTED};
  end();
  return number;
}

static char *joined(const char *code, const char *message, size_t *size) {
  size_t first = strlen(code) + 1, second = strlen(message) + 1;
  char *reason = malloc(first + second);
  if (reason == NULL) return NULL;
  memcpy(reason, code, first);
  memcpy(reason + first, message, second);
  *size = first + second;
  return reason;
}

void state_record_set(int32_t number, uint16_t state, const char *code, const char *message) {
  size_t size = 0;
  char *reason = code == NULL ? NULL : joined(code, message, &size);
  state_cell *cell = cell_at((uint32_t)number);
  void *old = (void *)(uintptr_t)cell->reason;
  begin();
  cell->reason = (uintptr_t)reason;
  cell->reason_size = (uint32_t)size;
  cell->state = state;
  end();
  free(old);
}
