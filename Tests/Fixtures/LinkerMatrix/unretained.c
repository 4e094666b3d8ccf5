// What an author writes who does not know the header: the compiler keeps it, the linker need not.
static const char *const first __attribute__((used, section("BeehiveMods"))) = "Mod.First";
static const char *const second __attribute__((used, section("BeehiveMods"))) = "Mod.Second";

__attribute__((visibility("default"))) int ordinary_code(int value);
int ordinary_code(int value) { return value * 2; }
