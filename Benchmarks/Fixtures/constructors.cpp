// Registration without this library: one constructor for each entry.
#include <string>
#include <unordered_map>

#if defined(EMPTY)
// The assembler text hides from the compiler that the function is empty.
#define ENTRY(number) \
  __attribute__((constructor)) static void construct_##number() { __asm__ volatile(""); }
#elif defined(INSERTING)
static std::unordered_map<std::string, int> &registry() {
  static std::unordered_map<std::string, int> map;
  return map;
}
#define ENTRY(number)                                             \
  __attribute__((constructor)) static void construct_##number() { \
    registry().emplace("Bench@@@@.Module" #number, 1);            \
  }
#else
#define ENTRY(number)
#endif

#include ENTRIES
