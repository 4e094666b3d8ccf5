#define _GNU_SOURCE
#include "CEpoch.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct beehive_epoch_state beehive_epoch = {.current = 1};

_Thread_local struct beehive_reader *beehive_this_reader
    __attribute__((tls_model("initial-exec")));

static struct beehive_reader *readers;  // only grows; atomic
static pthread_key_t leaving;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

// If memory runs out, a thread gets no record. Sharing one would be wrong, so the process stops, as it
// does for other callers of malloc.
static struct beehive_reader *allocate(void) {
  void *memory = NULL;
  if (posix_memalign(&memory, 64, sizeof(struct beehive_reader)) != 0) abort();
  memset(memory, 0, sizeof(struct beehive_reader));
  return memory;
}

static void leave(void *record) {
  struct beehive_reader *reader = record;
  beehive_this_reader = NULL;
  reader->depth = 0;
  __atomic_store_n(&reader->epoch, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&reader->owned, 0, __ATOMIC_RELEASE);
}

// Tells the kernel that this process will ask for barriers. If the kernel refuses, readers fence.
static void register_barrier(void) {
  if (syscall(__NR_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) return;
  __atomic_store_n(&beehive_epoch.fence_needed, 1, __ATOMIC_SEQ_CST);
}

// In the child of a fork only the calling thread lives, so the others' announcements mean nothing.
static void forget_other_threads(void) {
  register_barrier();
  for (struct beehive_reader *r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next) {
    if (r == beehive_this_reader) continue;
    r->depth = 0;
    r->creation = NULL;
    __atomic_store_n(&r->epoch, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&r->owned, 0, __ATOMIC_RELAXED);
  }
}

static void prepare(void) {
  if (pthread_key_create(&leaving, leave) != 0) abort();
  pthread_atfork(NULL, NULL, forget_other_threads);
  register_barrier();
}

struct beehive_reader *beehive_reader_enrol(void) {
  pthread_once(&prepared, prepare);
  struct beehive_reader *reader;
  for (reader = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); reader; reader = reader->next) {
    uint32_t vacant = 0;
    if (__atomic_compare_exchange_n(&reader->owned, &vacant, 1, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED))
      break;
  }
  if (!reader) {
    reader = allocate();
    reader->owned = 1;
    reader->next = __atomic_load_n(&readers, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&readers, &reader->next, reader, 1, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED)) {
    }
  }
  beehive_this_reader = reader;
  pthread_setspecific(leaving, reader);
  return reader;
}

uint64_t beehive_epoch_end(void) {
  return __atomic_fetch_add(&beehive_epoch.current, 1, __ATOMIC_SEQ_CST);
}

uint64_t beehive_epoch_oldest(void) {
  pthread_once(&prepared, prepare);
  // After this every reader either has its announcement visible here or will see the new table.
  // If the kernel refuses, nobody knows who reads what, so nothing is freed this time.
  if (!beehive_epoch.fence_needed &&
      syscall(__NR_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
    return 0;
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  uint64_t oldest = __atomic_load_n(&beehive_epoch.current, __ATOMIC_SEQ_CST);
  for (struct beehive_reader *r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next) {
    uint64_t epoch = __atomic_load_n(&r->epoch, __ATOMIC_ACQUIRE);
    if (epoch != 0 && epoch < oldest) oldest = epoch;
  }
  return oldest;
}
