// The header without an annotation: must link and leave nothing.
#include <BeeHive.h>

#ifdef __cplusplus
extern "C"
#endif
int ordinary_code(int value);
int ordinary_code(int value) { return value * 2; }
