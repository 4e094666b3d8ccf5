/* BeeHive for C and C++ authors: say what a library offers; the host that loads it finds it.
 *
 *   #include <BeeHive.h>                       // no library to link; none of your code runs on its own
 *   BeeHiveMod(Shop.ShopModule);               // a Swift type by name
 *
 *   static bool set_up(const beehive_context *context) { return true; }
 *   static const beehive_module_operations audio_operations = { .set_up = set_up };
 *   BEEHIVE_MODULE(audio, &audio_operations, BEEHIVE_PRIORITY(10) BEEHIVE_REQUIRES("log"));
 *
 *   static const struct greeter english = { .greet = greet_in_english };
 *   BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english);
 */
#ifndef BEEHIVE_H
#define BEEHIVE_H

#include "beehive/macros.h"

#endif
