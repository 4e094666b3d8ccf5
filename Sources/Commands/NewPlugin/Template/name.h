/* Compiles if NAME means nothing in C or C++ yet, and HEADER is no header of the system. */
#include <BeeHive.h>

#if __has_include(HEADER)
#error "a header of the system has this name"
#endif

static int NAME;
