#include "CImageList.h"
