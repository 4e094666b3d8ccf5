#define _GNU_SOURCE
#include "contract.h"

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

static void (*host)(void);

void contract_call_host(void) {
  void (*function)(void) = __atomic_load_n(&host, __ATOMIC_ACQUIRE);
  if (function != NULL) function();
}

void contract_set_host(void (*function)(void)) {
  __atomic_store_n(&host, function, __ATOMIC_RELEASE);
}

int contract_copy_to_memory(const char *path) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  int memory = memfd_create("plugin", MFD_CLOEXEC);
  if (memory >= 0)
    while (sendfile(memory, file, NULL, 1 << 30) > 0) continue;
  close(file);
  return memory;
}

size_t contract_heap_size(void) { return mallinfo2().uordblks; }

void contract_end_after(unsigned seconds) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  signal(SIGALRM, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
  alarm(seconds);
}
