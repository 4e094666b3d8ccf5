// Epoch-based reclamation. A lookup reads the current table without a lock or a reference count.
// The writer learns when no thread can still be reading an old one.
//
//   struct beehive_reader *reader = beehive_read_begin();
//   ... load the table, use it ...
//   beehive_read_end(reader);
//
// A reader announces the epoch that it entered, in a record of its own thread. So two readers share no
// cache line that either writes. The announcement is a plain store. If the system has membarrier(2),
// the writer pays for the ordering, and a lookup costs no fence.
//
// This is C because Swift has no thread-local storage whose access is one instruction.
#ifndef BEEHIVE_CEPOCH_H
#define BEEHIVE_CEPOCH_H

#include <stddef.h>
#include <stdint.h>

/// One thread's announcement. Lives until the process ends; a finished thread's record is reused.
struct beehive_reader {
  uint64_t epoch;               // 0 while the thread reads nothing; atomic
  uint64_t depth;               // nested read sections; only the owner looks
  struct beehive_reader *_Nullable next;  // list of all records; set once
  void *_Nullable creation;     // what the thread makes, kept for the next one; only the owner looks
  uint32_t owned;               // whether a living thread uses it; atomic
  uint32_t padding[7];          // fills a cache line
} __attribute__((aligned(64)));

/// The state that every reader reads, and that only writers change, rarely.
struct beehive_epoch_state {
  uint64_t current;       // starts at 1 and grows by one for each retirement; atomic
  uint32_t fence_needed;  // 1 where membarrier(2) is not to be had; set before the first reader
  uint32_t padding[13];
} __attribute__((aligned(64)));

extern struct beehive_epoch_state beehive_epoch;

// initial-exec: one load relative to the thread pointer, also from a plugin. Eight bytes of the
// loader's surplus, so a host may dlopen the library.
extern _Thread_local struct beehive_reader *_Nullable beehive_this_reader
    __attribute__((tls_model("initial-exec")));

/// Gives the calling thread a record; called once a thread.
struct beehive_reader *_Nonnull beehive_reader_enrol(void);

/// The record of the calling thread.
static inline struct beehive_reader *_Nonnull beehive_reader_here(void) {
  struct beehive_reader *_Nullable reader = beehive_this_reader;
  if (__builtin_expect(reader == NULL, 0)) reader = beehive_reader_enrol();
  return reader;
}

/// The place for what the calling thread makes. Swift sees no members of a structure that is aligned.
static inline void *_Nullable *_Nonnull beehive_creation_here(void) {
  return &beehive_reader_here()->creation;
}

/// Enters a read section; may nest. Whatever it loads stays valid until the matching end.
static inline struct beehive_reader *_Nonnull beehive_read_begin(void) {
  struct beehive_reader *_Nonnull reader = beehive_reader_here();
  if (reader->depth++ == 0) {
    // Acquire: a thread that sees an epoch sees every table that was published before it began.
    uint64_t now = __atomic_load_n(&beehive_epoch.current, __ATOMIC_ACQUIRE);
    __atomic_store_n(&reader->epoch, now, __ATOMIC_RELAXED);
    if (__builtin_expect(__atomic_load_n(&beehive_epoch.fence_needed, __ATOMIC_RELAXED), 0))
      __atomic_thread_fence(__ATOMIC_SEQ_CST);
    else
      __asm__ volatile("" ::: "memory");  // the writer's membarrier(2) does the rest
  }
  return reader;
}

/// Leaves the read section that `beehive_read_begin` entered, on the same thread.
static inline void beehive_read_end(struct beehive_reader *_Nonnull reader) {
  // An optimiser may move a retain past a store, but not past this. So everything that the section
  // hands out has been retained when the announcement is taken back.
  __asm__ volatile("" ::: "memory");
  if (--reader->depth == 0) __atomic_store_n(&reader->epoch, 0, __ATOMIC_RELEASE);
}

/// Ends the current epoch and returns its number, the tag of what was unpublished just before.
uint64_t beehive_epoch_end(void);

/// Returns the oldest epoch in use. Everything tagged with a smaller number can be freed: nobody reads it.
uint64_t beehive_epoch_oldest(void);

#endif
