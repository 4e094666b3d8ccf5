// The note and the announcement of an image, without an entry. See <beehive/anchor.h>.
#include "CBeeHiveAnchor.h"

#include <beehive/anchor.h>

BEEHIVE_IMAGE_ONCE
