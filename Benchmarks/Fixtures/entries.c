/* Entries of one kind. `Fixtures/make` replaces the four at signs in copies of the library. */
#ifdef BY_HAND

/* As in existing code: no header of this project, no note. */
#define ENTRY(number)                                                                     \
  __attribute__((used, retain, section("BeehiveMods"))) static const char *const entry_##number = \
      "Bench@@@@.Module" #number;

#else

#include <BeeHive.h>

struct counter {
  int (*next)(int);
};
static int next(int number) { return number + 1; }
__attribute__((unused)) static const struct counter counter = {next};

#if defined(MODULES)
#define ENTRY(number) BeeHiveMod(Bench@@@@.Module##number);
#elif defined(SERVICES)
#define ENTRY(number) BeeHiveService(Bench@@@@.Service##number, Bench@@@@.Implementation##number);
#else
#define ENTRY(number)                                                                  \
  BEEHIVE_SERVICE(Bench@@@@.Service##number, Bench@@@@.Implementation##number, &counter, \
                  BEEHIVE_SCOPE("singleton"));
#endif

#endif

#include ENTRIES
