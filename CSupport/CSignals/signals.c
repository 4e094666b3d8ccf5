#define _GNU_SOURCE
#include "CSignals.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#define LAST_SIGNAL 64

// Read by the handler: plain words, set before the handler is in place.
static struct {
  uint64_t signals;  // atomic; 0 while the slot is free
  int reading, writing;
  bool has_pipe;
} slots[BEEHIVE_SIGNAL_SLOTS];
static pid_t owner;  // atomic; a forked child has the handlers, but the pipes are its parent's

// Touched under the lock only.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous[LAST_SIGNAL + 1];

static uint64_t bit(int number) { return (uint64_t)1 << (number - 1); }

static void handle(int number) {
  int saved = errno;
  if (getpid() != __atomic_load_n(&owner, __ATOMIC_RELAXED)) {
    // No thread watches here. The default action of the system comes once this handler has returned.
    signal(number, SIG_DFL);
    raise(number);
    errno = saved;
    return;
  }
  unsigned char byte = (unsigned char)number;
  for (int slot = 0; slot < BEEHIVE_SIGNAL_SLOTS; slot++) {
    if (!(__atomic_load_n(&slots[slot].signals, __ATOMIC_ACQUIRE) & bit(number))) continue;
    // A full pipe says the same thing already: signals of one number merge in the kernel too.
    ssize_t written = write(slots[slot].writing, &byte, 1);
    (void)written;
  }
  errno = saved;
}

static uint64_t watched(void) {
  uint64_t all = 0;
  for (int slot = 0; slot < BEEHIVE_SIGNAL_SLOTS; slot++) all |= slots[slot].signals;
  return all;
}

// Restores the earlier handlers of signals that are not watched any more.
static void restore(uint64_t signals) {
  for (int number = 1; number <= LAST_SIGNAL; number++) {
    if (!(signals & bit(number))) continue;
    struct sigaction now;
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler == handle)
      sigaction(number, &previous[number], NULL);
  }
}

static int put_in_place(uint64_t signals) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART | SA_ONSTACK};
  sigfillset(&action.sa_mask);
  uint64_t done = 0;
  for (int number = 1; number <= LAST_SIGNAL; number++) {
    if (!(signals & bit(number))) continue;
    if (sigaction(number, &action, &previous[number]) != 0) {
      int failure = errno;
      restore(done);
      return -failure;
    }
    done |= bit(number);
  }
  return 0;
}

static int make_pipe(int slot) {
  if (slots[slot].has_pipe) {
    // Drops what the slot's previous user left unread.
    char rest[64];
    while (read(slots[slot].reading, rest, sizeof rest) > 0) {
    }
    return 0;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -errno;
  slots[slot].reading = ends[0];
  slots[slot].writing = ends[1];
  slots[slot].has_pipe = true;
  return 0;
}

static int open_slot(uint64_t signals) {
  int slot = 0;
  while (slot < BEEHIVE_SIGNAL_SLOTS && slots[slot].signals != 0) slot++;
  if (slot == BEEHIVE_SIGNAL_SLOTS) return -EBUSY;
  int failure = make_pipe(slot);
  if (failure) return failure;
  __atomic_store_n(&owner, getpid(), __ATOMIC_RELAXED);
  uint64_t fresh = signals & ~watched();
  // First the slot, then the handlers, so that the first signal is not lost.
  __atomic_store_n(&slots[slot].signals, signals, __ATOMIC_RELEASE);
  failure = put_in_place(fresh);
  if (failure) {
    __atomic_store_n(&slots[slot].signals, 0, __ATOMIC_RELEASE);
    return failure;
  }
  return slot;
}

int beehive_signals_open(uint64_t signals) {
  pthread_mutex_lock(&lock);
  int slot = open_slot(signals);
  pthread_mutex_unlock(&lock);
  return slot;
}

void beehive_signals_admit(uint64_t signals) {
  sigset_t set;
  sigemptyset(&set);
  for (int number = 1; number <= LAST_SIGNAL; number++)
    if (signals & bit(number)) sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

int beehive_signals_pipe(int slot) { return slots[slot].reading; }

void beehive_signals_close(int slot) {
  pthread_mutex_lock(&lock);
  uint64_t mine = slots[slot].signals;
  __atomic_store_n(&slots[slot].signals, 0, __ATOMIC_RELEASE);
  restore(mine & ~watched());
  pthread_mutex_unlock(&lock);
}
