#include "CImageEvents.h"
