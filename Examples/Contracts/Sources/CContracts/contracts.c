/* Includes only the header, to show that it compiles by itself. */
#include "CContracts.h"
