// Entries as somebody writes them who uses nothing of the header but its types.
#include <BeeHive.h>
#define MODULE BEE_TEST_ENTRY("BeehiveMods")
#define SERVICE BEE_TEST_ENTRY("BeehiveServices")
#define BEE_TEST_ENTRY(section_name) \
  __attribute__((used, retain, aligned(8), section(section_name))) static const char *const
#define RECORD(name, kind, text) \
  __attribute__((used, retain, aligned(8), section("BeehiveRecords"))) static const struct { \
    uint32_t size; uint16_t version, number; uint32_t flags, offset; uint64_t pointers[2]; \
    char bytes[(sizeof text + 7) / 8 * 8]; \
  } name = {32 + (sizeof text + 7) / 8 * 8, 1, kind, 0, 32, {0, 0}, text};
