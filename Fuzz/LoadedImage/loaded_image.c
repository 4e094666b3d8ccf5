/* Any bytes as a library that is loaded: what the passes through the loader's list make of it.
 *
 * This file is the loader. It maps what a real loader would map of the input, refuses what that would refuse, and
 * shows the image to the passes. They are compiled with `dl_iterate_phdr` under another name. The image ends where
 * its memory does, so every step beyond it is found. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "CImageList.h"

/* More than the fixtures need, and few enough to run quickly. */
enum { MOST_HEADERS = 64, MOST_MEMORY = 1 << 20, PAGE = 4096 };

static struct dl_phdr_info loaded;

/* `dl_iterate_phdr`, as the passes call it. */
int fuzzed_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *context) {
  return visit(&loaded, sizeof loaded, context);
}

/* Finds the lowest and the highest address of the segments. Returns false if no loader would go on. */
static bool span(const ElfW(Phdr) *headers, size_t count, size_t file_size, image_range *range) {
  *range = (image_range){UINTPTR_MAX, 0};
  for (size_t i = 0; i < count; i++) {
    const ElfW(Phdr) *header = &headers[i];
    if (header->p_type == PT_DYNAMIC && header->p_vaddr % sizeof(uintptr_t) != 0) return false;
    if (header->p_type != PT_LOAD) continue;
    if (header->p_vaddr > MOST_MEMORY || header->p_memsz > MOST_MEMORY ||
        header->p_filesz > header->p_memsz || header->p_offset > file_size ||
        header->p_filesz > file_size - header->p_offset ||
        header->p_vaddr % PAGE != header->p_offset % PAGE)
      return false;
    uintptr_t low = header->p_vaddr & ~(uintptr_t)(PAGE - 1);
    if (low < range->start) range->start = low;
    if (header->p_vaddr + header->p_memsz > range->stop)
      range->stop = header->p_vaddr + header->p_memsz;
  }
  return range->stop > range->start;
}

/* Relocates the pointers of the two sections that have them. */
static void relocate(const image_entry *entry, unsigned char *memory, const image_range *linked) {
  for (int section = 0; section < 2 && entry->note == IMAGE_NOTE_FOUND; section++) {
    image_range range = entry->sections[section];
    for (uintptr_t at = range.start; at + sizeof at <= range.stop; at += sizeof at) {
      uintptr_t *word = (uintptr_t *)at;
      if (*word >= linked->start && *word < linked->stop)
        *word += (uintptr_t)memory - linked->start;
    }
  }
}

/* Reads every byte that a pass hands out, so that an instrument finds wrong accesses. */
static unsigned touch(const unsigned char *bytes, size_t size) {
  unsigned sum = 0;
  for (size_t i = 0; i < size; i++) sum += bytes[i];
  return sum;
}

static void copy(const image_list *list) {
  const image_entry *entry = &list->entries[0];
  image_wanted wanted[IMAGE_SECTION_COUNT];
  size_t count = 0;
  for (int i = 0; i < IMAGE_SECTION_COUNT && entry->note == IMAGE_NOTE_FOUND; i++)
    wanted[count++] = (image_wanted){entry->sections[i], i < 2};
  image_request request = {.entry = 0, .range_count = count};
  image_copies copies = {0};
  volatile unsigned sum = 0;
  if (image_list_copy(list, &request, 1, wanted, count, &copies)) {
    if (!copies.images[0].present) abort();
    sum += touch(copies.bytes, copies.bytes_size);
    for (size_t i = 0; i < copies.texts_size; i++)
      if (copies.texts[i].status == IMAGE_TEXT_COPIED)
        sum += touch(copies.bytes + copies.texts[i].offset, copies.texts[i].size);
  }
  image_copies_free(&copies);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size) {
  ElfW(Ehdr) header;
  if (size < sizeof header) return 0;
  memcpy(&header, input, sizeof header);
  size_t count = header.e_phnum, headers_size = count * sizeof(ElfW(Phdr));
  if (memcmp(input, ELFMAG, SELFMAG) != 0 || count == 0 || count > MOST_HEADERS ||
      header.e_phoff > size || headers_size > size - header.e_phoff)
    return 0;
  ElfW(Phdr) *headers = malloc(headers_size);
  if (headers == NULL) return 0;
  memcpy(headers, input + header.e_phoff, headers_size);
  image_range linked;
  void *memory = NULL;
  if (span(headers, count, size, &linked) &&
      posix_memalign(&memory, PAGE, linked.stop - linked.start) == 0) {
    memset(memory, 0, linked.stop - linked.start);
    for (size_t i = 0; i < count; i++)
      if (headers[i].p_type == PT_LOAD)
        memcpy((char *)memory + (headers[i].p_vaddr - linked.start), input + headers[i].p_offset,
               headers[i].p_filesz);
    loaded = (struct dl_phdr_info){.dlpi_addr = (uintptr_t)memory - linked.start,
                                   .dlpi_name = "fuzzed.so",
                                   .dlpi_phdr = headers,
                                   .dlpi_phnum = (ElfW(Half))count,
                                   .dlpi_adds = 1};
    image_list list = {0}, previous = {0};
    if (image_list_scan(&list, &previous)) {
      if (list.count != 1 || !image_list_same(&list, 0, &list, 0)) abort();
      relocate(&list.entries[0], memory, &linked);
      copy(&list);
    }
    image_list_free(&list);
    image_list_free(&previous);
  }
  free(memory);
  free(headers);
  return 0;
}
