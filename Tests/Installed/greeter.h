/* What the host and its plugins agree upon. */
#ifndef GREETER_H
#define GREETER_H

struct greeter {
  const char *(*greeting)(void);
};

#endif
