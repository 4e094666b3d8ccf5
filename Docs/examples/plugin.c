/* Who a plugin is, as Docs/plugins.md shows it. */
#include <BeeHive.h>

BEEHIVE_PLUGIN("com.example.greet", "1.4.2", BEEHIVE_NAME("Greetings") BEEHIVE_NAME_IN("de", "Grüße"));
