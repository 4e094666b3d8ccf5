// libelf and its class-independent view, as Swift's module `CElf`.
#include <gelf.h>
#include <libelf.h>
