// A target and routes written in C, for tests of how a Hive's router and mediator call them.
#ifndef BEEHIVE_TESTS_CROUTES_H
#define BEEHIVE_TESTS_CROUTES_H

/// Makes the linker take this library; its records do the rest.
void c_routes_link(void);

#endif
