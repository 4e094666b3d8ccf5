// A program without the runtime of Swift: each call says that there is none.
#include "CSwiftRuntime.h"
int main(void) {
  int type = 0, protocol = 0;
  const void *actor = 0;
  if (beehive_swift_images(0, 0, 0) != 0) { return 1; }
  if (beehive_swift_existential(&protocol, false)) { return 2; }
  if (beehive_swift_conformance_of(&type, &protocol, &actor) !=
      beehive_swift_conforms_unavailable) { return 3; }
  return 0;
}
