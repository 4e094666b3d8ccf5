// Two module names. Compiled twice, so that every image folds the anchors of two files.
#include <BeeHive.h>

#ifdef TWIN
BeeHiveMod(Mod.Third);
BeeHiveMod(Mod.Fourth<Key, Value>);
#else
BeeHiveMod(Mod.First);
BeeHiveMod(Mod.Second);
#endif
