// Signals as bytes in a pipe: a thread that waits for them reads, and nothing but a write happens inside
// the handler.
//
//   int slot = beehive_signals_open(1ull << (SIGTERM - 1));
//   char number;
//   read(beehive_signals_pipe(slot), &number, 1);
//   beehive_signals_close(slot);
//
// A handler belongs to the process, whichever thread takes the signal; so several slots may watch one
// signal, and each gets a byte. The first one that watches it puts the handler in place, the last one
// puts back what was there before, unless somebody else has replaced it meanwhile.
//
// This is C because a signal may come while any thread is in the middle of anything, and Swift promises
// of no code that it neither allocates nor locks.
#ifndef BEEHIVE_CSIGNALS_H
#define BEEHIVE_CSIGNALS_H

#include <stdint.h>

/// How many may watch at the same time.
#define BEEHIVE_SIGNAL_SLOTS 16

/// Begins to watch the signals whose bits are set, number 1 the lowest; a slot, or -errno: EBUSY where
/// all slots are taken, EINVAL for a signal that cannot be handled.
int beehive_signals_open(uint64_t signals);

/// Lets the calling thread take these signals: the parent of the process may have blocked them.
void beehive_signals_admit(uint64_t signals);

/// Where the numbers of the signals can be read, one byte each. Does not block.
int beehive_signals_pipe(int slot);

/// Ends the watch. The pipe is not closed but kept for the next one that opens the slot: a handler may
/// be about to write to it on another thread.
void beehive_signals_close(int slot);

#endif
