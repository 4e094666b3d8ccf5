/* The service of the C plugins of the end-to-end tests, and their calls back into the host. */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stddef.h>

/* The service: a table of one function. */
struct speaker {
  const char *(*say)(void);
};

/* Calls the function that the host has set, if any. Fixtures do so in constructors and factories. */
void contract_call_host(void);

/* Sets the function that contract_call_host calls; null for nothing. */
void contract_set_host(void (*function)(void));

/* Returns a descriptor of a copy of the file in memory (memfd_create); -1 if that fails. */
int contract_copy_to_memory(const char *path);

/* Returns the number of bytes allocated on the C library's heap (mallinfo2). */
size_t contract_heap_size(void);

/* Ends this process after so many seconds, whatever it does, even if the parent process has blocked the signal. */
void contract_end_after(unsigned seconds);

#endif
