/* Counts a program's calls of libelf: preload it. With BREAK=1 in the environment libelf opens nothing.
 *
 * The file that LIBELF_COUNTS names holds the counts. Every process that inherits the environment maps that
 * file and adds to it, so children count too, however they end. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* X(result, name, parameters, arguments): calls that are counted and passed on. */
#define OPENING(X)                                                                   \
  X(Elf *, elf_begin, (int file, Elf_Cmd command, Elf *archive), (file, command, archive)) \
  X(Elf *, elf_memory, (char *image, size_t size), (image, size))

#define READING(X)                                                                               \
  X(Elf_Scn *, elf_getscn, (Elf * elf, size_t index), (elf, index))                              \
  X(Elf_Scn *, elf_nextscn, (Elf * elf, Elf_Scn * section), (elf, section))                      \
  X(char *, elf_strptr, (Elf * elf, size_t section, size_t offset), (elf, section, offset))      \
  X(Elf_Data *, elf_getdata, (Elf_Scn * section, Elf_Data * data), (section, data))              \
  X(Elf_Data *, elf_rawdata, (Elf_Scn * section, Elf_Data * data), (section, data))              \
  X(Elf_Data *, elf_getdata_rawchunk, (Elf * elf, int64_t offset, size_t size, Elf_Type type),   \
    (elf, offset, size, type))                                                                   \
  X(int, elf_compress, (Elf_Scn * section, int type, unsigned flags), (section, type, flags))    \
  X(GElf_Ehdr *, gelf_getehdr, (Elf * elf, GElf_Ehdr * header), (elf, header))                   \
  X(GElf_Phdr *, gelf_getphdr, (Elf * elf, int index, GElf_Phdr * header), (elf, index, header)) \
  X(GElf_Shdr *, gelf_getshdr, (Elf_Scn * section, GElf_Shdr * header), (section, header))       \
  X(GElf_Chdr *, gelf_getchdr, (Elf_Scn * section, GElf_Chdr * header), (section, header))       \
  X(GElf_Sym *, gelf_getsym, (Elf_Data * data, int index, GElf_Sym * symbol),                    \
    (data, index, symbol))                                                                       \
  X(GElf_Sym *, gelf_getsymshndx,                                                                \
    (Elf_Data * data, Elf_Data * indices, int index, GElf_Sym * symbol, Elf32_Word * section),   \
    (data, indices, index, symbol, section))                                                     \
  X(GElf_Rel *, gelf_getrel, (Elf_Data * data, int index, GElf_Rel * entry),                     \
    (data, index, entry))                                                                        \
  X(GElf_Rela *, gelf_getrela, (Elf_Data * data, int index, GElf_Rela * entry),                  \
    (data, index, entry))                                                                        \
  X(GElf_Dyn *, gelf_getdyn, (Elf_Data * data, int index, GElf_Dyn * entry),                     \
    (data, index, entry))                                                                        \
  X(size_t, gelf_getnote,                                                                        \
    (Elf_Data * data, size_t offset, GElf_Nhdr * note, size_t * name, size_t * descriptor),      \
    (data, offset, note, name, descriptor))                                                      \
  X(GElf_Versym *, gelf_getversym, (Elf_Data * data, int index, GElf_Versym * version),          \
    (data, index, version))                                                                      \
  X(GElf_Verneed *, gelf_getverneed, (Elf_Data * data, int offset, GElf_Verneed * need),         \
    (data, offset, need))                                                                        \
  X(GElf_Vernaux *, gelf_getvernaux, (Elf_Data * data, int offset, GElf_Vernaux * version),      \
    (data, offset, version))                                                                     \
  X(GElf_Verdef *, gelf_getverdef, (Elf_Data * data, int offset, GElf_Verdef * definition),      \
    (data, offset, definition))                                                                  \
  X(GElf_Verdaux *, gelf_getverdaux, (Elf_Data * data, int offset, GElf_Verdaux * version),      \
    (data, offset, version))

#define NUMBER(result, name, parameters, arguments) NUMBER_##name,
enum { OPENING(NUMBER) READING(NUMBER) COUNT };

/* What the file holds: one row for each call. */
struct row {
  char name[24];
  uint64_t count;
};

#define ROW(result, name, parameters, arguments) {#name, 0},
static struct row unshared[COUNT] = {OPENING(ROW) READING(ROW)};
static struct row *rows = unshared;

__attribute__((constructor)) static void share(void) {
  const char *path = getenv("LIBELF_COUNTS");
  int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (file < 0) return;
  /* Whoever made the file has made it as large as the rows, so that no process ever cuts it. */
  void *shared = mmap(NULL, sizeof unshared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared == MAP_FAILED) return;
  for (size_t i = 0; i < COUNT; i++)
    memcpy(((struct row *)shared)[i].name, unshared[i].name, sizeof unshared[i].name);
  rows = shared;
}

/* Counts a call, and finds the definition that comes after this library's. */
static void *count(size_t number, const char *name, void **next) {
  __atomic_add_fetch(&rows[number].count, 1, __ATOMIC_RELAXED);
  void *found = __atomic_load_n(next, __ATOMIC_RELAXED);
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, name);
    __atomic_store_n(next, found, __ATOMIC_RELAXED);
  }
  return found;
}

#define DEFINE(result, name, parameters, isBroken, arguments)                      \
  result name parameters {                                                         \
    static void *next;                                                             \
    result(*original) parameters =                                                 \
        (result(*) parameters)count(NUMBER_##name, #name, &next);                  \
    if (isBroken) return (result)0;                                                \
    return original arguments;                                                     \
  }
#define OPEN(result, name, parameters, arguments) \
  DEFINE(result, name, parameters, getenv("BREAK") != NULL, arguments)
#define READ(result, name, parameters, arguments) \
  DEFINE(result, name, parameters, false, arguments)
OPENING(OPEN)
READING(READ)
