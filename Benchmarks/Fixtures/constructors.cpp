// What libraries do instead: one constructor for each entry.
#include <string>
#include <unordered_map>

#if defined(EMPTY)
// The assembler text keeps the compiler from seeing that there is nothing to call.
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
