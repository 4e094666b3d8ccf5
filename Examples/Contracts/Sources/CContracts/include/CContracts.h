/* The contract of C authors and the host: a C service is a structure of functions, or an object. */
#ifndef CCONTRACTS_H
#define CCONTRACTS_H

#include <stdint.h>

struct price_list {
  int64_t (*cents)(const char *item); /* -1 if there is no such item */
};

struct discount {
  int64_t (*apply)(int64_t cents);
};

/* Drawn by each customer; not shared. */
struct queue_ticket {
  uint32_t number;
};

#endif
