/* Whether unmapping an image would leave Swift's runtime with tables that point to nothing.
 *
 * Every image that swiftc links hands its metadata to `swift_addNewDSOImage` when it is loaded, and
 * nothing takes it back: the next dynamic cast after `dlclose` reads unmapped memory. Section
 * headers are not mapped, so the sections themselves cannot be looked for. What can: the library
 * that has the function is needed by the image, or, where a host brings the runtime along, the
 * function is among the symbols that the image leaves undefined.
 *
 * This is read where it is mapped, and not by gelf_getdyn and gelf_getsym. They want a handle of
 * elf_memory, which allocates, and both callers may not: the hook runs in constructors, and a copy
 * runs in the callback of dl_iterate_phdr. libelf has no call that reads into memory of the caller.
 * A capsule for later would not help: to copy the tables is to find them first, which is what is here,
 * and their names alone are 0.6 MB in libswiftCore.so and 0.9 MB in libFoundation.so. */
#define _GNU_SOURCE
#include "CImageList.h"

#include <link.h>
#include <string.h>

#define LIBRARY "libswiftCore.so"
#define FUNCTION "swift_addNewDSOImage"

static bool holds(const image_place *place, uintptr_t address, size_t size) {
  return address >= place->lowest && address < place->highest && place->highest - address >= size;
}

/* A table of the dynamic section: glibc has added the bias already, musl and some machines not. */
static uintptr_t table(const image_place *place, uintptr_t address) {
  return holds(place, address, 1) ? address : address + place->bias;
}

/* Whether the text at `address` is `expected`, its NUL included where `whole`. */
static bool reads(const image_place *place, uintptr_t address, const char *expected, bool whole) {
  size_t size = strlen(expected) + (whole ? 1 : 0);
  return holds(place, address, size) && memcmp((const void *)address, expected, size) == 0;
}

/* How many symbols come before the first that the image defines and exports: the undefined ones are
 * among them. DT_GNU_HASH's second word; without that table, the symbols that DT_HASH chains. */
static size_t undefined_limit(const image_place *place, uintptr_t gnu_hash, uintptr_t hash) {
  uintptr_t words = gnu_hash != 0 ? gnu_hash : hash;
  if (words == 0 || !holds(place, words, 2 * sizeof(uint32_t))) return 0;
  uint32_t count;
  memcpy(&count, (const char *)words + sizeof count, sizeof count);
  return count;
}

bool image_carries_swift(const image_place *place) {
  uintptr_t strings = 0, symbols = 0, gnu_hash = 0, hash = 0;
  size_t entry_count = 0, needed_count = 0;
  if (place->dynamic == 0 || !holds(place, place->dynamic, 0)) return false;
  const ElfW(Dyn) *entries = (const ElfW(Dyn) *)place->dynamic;
  size_t entry_limit = (place->highest - place->dynamic) / sizeof *entries;
  for (; entry_count < entry_limit; entry_count++) {
    const ElfW(Dyn) *entry = &entries[entry_count];
    if (entry->d_tag == DT_NULL) break;
    switch (entry->d_tag) {
      case DT_NEEDED: needed_count++; break;
      case DT_STRTAB: strings = table(place, entry->d_un.d_ptr); break;
      case DT_SYMTAB: symbols = table(place, entry->d_un.d_ptr); break;
      case DT_GNU_HASH: gnu_hash = table(place, entry->d_un.d_ptr); break;
      case DT_HASH: hash = table(place, entry->d_un.d_ptr); break;
    }
  }
  if (strings == 0) return false;
  for (size_t i = 0; i < entry_count && needed_count > 0; i++) {
    if (entries[i].d_tag != DT_NEEDED) continue;
    if (reads(place, strings + entries[i].d_un.d_val, LIBRARY, false)) return true;
    needed_count--;
  }

  size_t limit = symbols != 0 ? undefined_limit(place, gnu_hash, hash) : 0;
  ElfW(Sym) symbol;
  for (size_t i = 0; i < limit; i++) {
    uintptr_t address = symbols + i * sizeof symbol;
    if (!holds(place, address, sizeof symbol)) break;
    memcpy(&symbol, (const void *)address, sizeof symbol); /* its alignment is not checked */
    if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0 &&
        reads(place, strings + symbol.st_name, FUNCTION, true))
      return true;
  }
  return false;
}
