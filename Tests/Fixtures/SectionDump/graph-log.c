#include <BeeHive.h>
#include <beehive/routing.h>
static const beehive_module_operations operations = {0};
static const int french = 1;
BEEHIVE_MODULE(log, &operations, BEEHIVE_REQUIRES("disk"));
BEEHIVE_MODULE(disk, &operations, BEEHIVE_AFTER("log") BEEHIVE_AFTER("absent"));
BEEHIVE_MODULE(net, &operations,);
BEEHIVE_SERVICE(Greeter, FrenchGreeter, &french, BEEHIVE_PRIORITY(1));
