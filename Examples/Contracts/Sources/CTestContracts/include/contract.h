/* What C plugins of the end-to-end tests offer, and how they call back into the host. */
#ifndef CONTRACT_H
#define CONTRACT_H

#include <stddef.h>

/* The service: a table of one function. */
struct speaker {
  const char *(*say)(void);
};

/* Calls what the host has set, if it has: fixtures do so in constructors and factories. */
void contract_call_host(void);

/* Says what contract_call_host calls; null for nothing. */
void contract_set_host(void (*function)(void));

/* A file descriptor of a copy that no directory knows; -1 where that fails. memfd_create */
int contract_copy_to_memory(const char *path);

/* The bytes that are allocated on the heap of the C library. mallinfo2 */
size_t contract_heap_size(void);

/* Ends this process after so many seconds, whatever it does; whoever started it may have blocked the
 * signal. */
void contract_end_after(unsigned seconds);

#endif
