// Signals as bytes in a pipe. A thread that waits for them reads, and the handler does nothing but
// write.
//
//   int slot = beehive_signals_open(1ull << (SIGTERM - 1));
//   char number;
//   read(beehive_signals_pipe(slot), &number, 1);
//   beehive_signals_close(slot);
//
// A handler belongs to the process, whichever thread takes the signal. So several slots may watch one
// signal, and each gets a byte. The first slot that watches it installs the handler. The last one
// restores the handler from before, unless somebody else has replaced it meanwhile.
//
// This is C because a signal may come while any thread is in the middle of anything. Swift does not
// promise that code neither allocates nor locks.
#ifndef BEEHIVE_CSIGNALS_H
#define BEEHIVE_CSIGNALS_H

#include <stdint.h>

/// The most slots at the same time.
#define BEEHIVE_SIGNAL_SLOTS 16

/// Begins to watch the signals whose bits are set, number 1 the lowest. Returns a slot, or -errno: EBUSY if
/// all slots are taken, EINVAL for a signal that cannot be handled.
int beehive_signals_open(uint64_t signals);

/// Lets the calling thread take these signals: the parent of the process may have blocked them.
void beehive_signals_admit(uint64_t signals);

/// Returns the pipe with the numbers of the signals, one byte each. Reading it does not block.
int beehive_signals_pipe(int slot);

/// Ends the watch. Keeps the pipe open for the next user of the slot, because a handler may be about to
/// write to it on another thread.
void beehive_signals_close(int slot);

#endif
