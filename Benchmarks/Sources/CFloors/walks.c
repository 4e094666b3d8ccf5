/* The walks without the library: by note, by file, and over the entries of one section. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "CFloors.h"

enum { IMAGE_LIMIT = 4096, SECTION_COUNT = 3 };

static struct found {
  uintptr_t bias;
  uintptr_t bounds[2 * SECTION_COUNT];
} found[IMAGE_LIMIT];
static size_t found_count;

/* The contract's note: owner `Beehive`, version, flags, the header's place, three pairs of bounds. */
static void read_note(const struct dl_phdr_info *image, const ElfW(Phdr) *segment) {
  const char *note = (const char *)image->dlpi_addr + segment->p_vaddr;
  const char *end = note + segment->p_memsz;
  size_t align = segment->p_align < 8 ? 4 : 8;
  while (end - note >= 12) {
    uint32_t head[3];
    memcpy(head, note, sizeof head);
    const char *words = note + ((12 + head[0] + align - 1) & ~(align - 1));
    if (head[2] == 0x42454501 && head[0] == 8 && memcmp(note + 12, "Beehive", 8) == 0) {
      struct found *next = &found[found_count++];
      next->bias = image->dlpi_addr;
      for (size_t i = 0; i < 2 * SECTION_COUNT; i++) {
        const char *word = words + (3 + i) * 4;
        int32_t offset;
        memcpy(&offset, word, sizeof offset);
        next->bounds[i] = (uintptr_t)word + (uintptr_t)(intptr_t)offset;
      }
      return;
    }
    note = words + ((head[1] + align - 1) & ~(align - 1));
  }
}

static int by_note(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size, (void)context;
  for (unsigned i = 0; i < image->dlpi_phnum; i++)
    if (image->dlpi_phdr[i].p_type == PT_NOTE && found_count < IMAGE_LIMIT)
      read_note(image, &image->dlpi_phdr[i]);
  return 0;
}

size_t floor_walk_notes(void) {
  found_count = 0;
  dl_iterate_phdr(by_note, NULL);
  return found_count;
}

/* Opens the files outside the loader's lock, as anybody should: first the list, then each file. */
static struct listed {
  const char *name;
  uintptr_t bias;
  const ElfW(Phdr) *headers;
  unsigned header_count;
} listed[IMAGE_LIMIT];
static size_t listed_count;

static int list(struct dl_phdr_info *image, size_t size, void *context) {
  (void)size, (void)context;
  if (listed_count < IMAGE_LIMIT && image->dlpi_name != NULL)
    listed[listed_count++] = (struct listed){
        .name = image->dlpi_name,
        .bias = image->dlpi_addr,
        .headers = image->dlpi_phdr,
        .header_count = image->dlpi_phnum};
  return 0;
}

static char *copied;
static size_t copied_size, copied_capacity;

static void copy(const void *bytes, size_t size) {
  if (copied_size + size > copied_capacity) {
    copied_capacity = 2 * (copied_size + size);
    copied = realloc(copied, copied_capacity);
    if (copied == NULL) abort();
  }
  memcpy(copied + copied_size, bytes, size);
  copied_size += size;
}

static size_t read_section(const struct listed *image, const GElf_Shdr *section, int has_pointers) {
  const char *const *entry = (const char *const *)(image->bias + section->sh_addr);
  copy(entry, section->sh_size);
  if (!has_pointers) return 1;
  for (size_t i = 0; i < section->sh_size / sizeof *entry; i++) copy(entry[i], strlen(entry[i]));
  return section->sh_size / sizeof *entry;
}

static size_t read_file(const struct listed *image) {
  const char *name = *image->name != 0 ? image->name : "/proc/self/exe";
  int file = open(name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t count = 0;
  Elf *elf = elf_begin(file, ELF_C_READ, NULL);
  GElf_Ehdr header;
  size_t names;
  if (elf != NULL && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) != NULL &&
      header.e_phnum == image->header_count && elf_getshdrstrndx(elf, &names) == 0) {
    int same = 1;
    for (int i = 0; i < header.e_phnum; i++) {
      GElf_Phdr segment;
      same &= gelf_getphdr(elf, i, &segment) != NULL &&
              memcmp(&segment, &image->headers[i], sizeof segment) == 0;
    }
    for (Elf_Scn *at = same ? elf_nextscn(elf, NULL) : NULL; at != NULL; at = elf_nextscn(elf, at)) {
      GElf_Shdr section;
      if (gelf_getshdr(at, &section) == NULL) continue;
      const char *text = elf_strptr(elf, names, section.sh_name);
      if (text == NULL) continue;
      if (strcmp(text, "BeehiveMods") == 0 || strcmp(text, "BeehiveServices") == 0)
        count += read_section(image, &section, 1);
      else if (strcmp(text, "BeehiveRecords") == 0)
        count += read_section(image, &section, 0);
    }
  }
  if (elf != NULL) elf_end(elf);
  close(file);
  return count;
}

size_t floor_walk_files(void) {
  size_t count = 0;
  elf_version(EV_CURRENT);
  listed_count = 0;
  copied_size = 0;
  dl_iterate_phdr(list, NULL);
  for (size_t i = 0; i < listed_count; i++) count += read_file(&listed[i]);
  return count;
}

size_t floor_find_sections(const char *path) {
  elf_version(EV_CURRENT);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  size_t count = 0, names;
  Elf *elf = elf_begin(file, ELF_C_READ, NULL);
  if (elf != NULL && elf_kind(elf) == ELF_K_ELF && elf_getshdrstrndx(elf, &names) == 0)
    for (Elf_Scn *at = elf_nextscn(elf, NULL); at != NULL; at = elf_nextscn(elf, at)) {
      GElf_Shdr section;
      const char *text =
          gelf_getshdr(at, &section) == NULL ? NULL : elf_strptr(elf, names, section.sh_name);
      count += text != NULL && (strcmp(text, "BeehiveMods") == 0 ||
                                strcmp(text, "BeehiveServices") == 0 ||
                                strcmp(text, "BeehiveRecords") == 0);
    }
  if (elf != NULL) elf_end(elf);
  close(file);
  return count;
}

static int count_adds(struct dl_phdr_info *image, size_t size, void *adds) {
  (void)size;
  *(uint64_t *)adds = image->dlpi_adds;
  return 1;
}

uint64_t floor_probe(void) {
  uint64_t adds = 0;
  dl_iterate_phdr(count_adds, &adds);
  return adds;
}

size_t floor_read_newest(void) {
  size_t size = 0, count = floor_walk_notes();
  if (count == 0) return 0;
  const char *const *entry = (const char *const *)found[count - 1].bounds[0];
  const char *const *end = (const char *const *)found[count - 1].bounds[1];
  for (; entry < end; entry++) size += strlen(*entry);
  return size;
}

size_t floor_read_folder(const char *path) {
  DIR *folder = opendir(path);
  size_t total = 0;
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    struct stat status;
    int file = openat(dirfd(folder), entry->d_name, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode)) {
      char *bytes = malloc((size_t)status.st_size);
      ssize_t count = pread(file, bytes, (size_t)status.st_size, 0);
      total += count < 0 ? 0 : (size_t)count;
      free(bytes);
    }
    if (file >= 0) close(file);
  }
  if (folder) closedir(folder);
  return total;
}
