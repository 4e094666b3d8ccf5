// Two services by name, twice.
#include <BeeHive.h>

#ifdef TWIN
BeeHiveService(Service.Third, Made.Third);
BeeHiveService(Service.Fourth, Made.Fourth<Key, Value>);
#else
BeeHiveService(Service.First, Made.First);
BeeHiveService(Service.Second, Made.Second);
#endif
