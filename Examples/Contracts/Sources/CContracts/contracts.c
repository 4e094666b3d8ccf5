/* The header alone, so that it is known to compile by itself. */
#include "CContracts.h"
