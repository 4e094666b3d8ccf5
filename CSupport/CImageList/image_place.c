/* The place of one image, and the image that an address belongs to. Called under the loader's lock. Do not
 * call libelf there, because it allocates. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include "image_loader.h"

image_place image_place_of(const loader_image *image) {
  image_place place = {.bias = image->dlpi_addr, .lowest = UINTPTR_MAX};
  for (unsigned i = 0; i < image->dlpi_phnum; i++) {
    const ElfW(Phdr) *segment = &image->dlpi_phdr[i];
    uintptr_t low = image->dlpi_addr + segment->p_vaddr;
    if (segment->p_type == PT_DYNAMIC) place.dynamic = low;
    if (segment->p_type != PT_LOAD) continue;
    if (low < place.lowest) place.lowest = low;
    if (low + segment->p_memsz > place.highest) place.highest = low + segment->p_memsz;
  }
  return place;
}

static bool find_segment(
    const ElfW(Phdr) *headers, size_t count, uintptr_t bias, uintptr_t address,
    image_segment *segment) {
  for (const ElfW(Phdr) *header = headers; header != headers + count; header++) {
    uintptr_t low = bias + header->p_vaddr;
    if (header->p_type != PT_LOAD || address < low || address - low >= header->p_memsz) continue;
    *segment = (image_segment){
        {low, low + header->p_memsz}, header->p_flags & PF_R, header->p_flags & PF_X};
    return true;
  }
  return false;
}

struct segment_search {
  uintptr_t address;
  image_segment *segment;
};

static int compare_segments(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const struct segment_search *search = context;
  return find_segment(
      info->dlpi_phdr, info->dlpi_phnum, info->dlpi_addr, search->address, search->segment);
}

bool image_segment_find(uintptr_t address, image_segment *segment) {
#ifdef IMAGE_HAS_HEADERS_OF
  struct dl_find_object found;
  const ElfW(Phdr) *headers;
  if (_dl_find_object((void *)address, &found) != 0) return false;
  /* A loader older than the headers that this was compiled with does not know the request. */
  int count = dlinfo(found.dlfo_link_map, RTLD_DI_PHDR, &headers);
  if (count > 0)
    return find_segment(
        headers, (size_t)count, found.dlfo_link_map->l_addr, address, segment);
#endif
  struct segment_search search = {address, segment};
  return dl_iterate_phdr(compare_segments, &search) == 1;
}

#ifdef IMAGE_HAS_FIND_OBJECT

/* The index needs no lock and no walk. */
const char *image_place_find(const void *address, image_place *place) {
  struct dl_find_object found;
  if (_dl_find_object((void *)address, &found) != 0) return NULL;
  *place = (image_place){
      .bias = found.dlfo_link_map->l_addr,
      .dynamic = (uintptr_t)found.dlfo_link_map->l_ld,
      .lowest = (uintptr_t)found.dlfo_map_start,
      .highest = (uintptr_t)found.dlfo_map_end,
  };
  return found.dlfo_link_map->l_name;
}

#else

struct search {
  uintptr_t address;
  image_place *place;
  const char *name;
};

static int compare(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  image_place place = image_place_of(info);
  if (search->address < place.lowest || search->address >= place.highest) return 0;
  *search->place = place;
  search->name = info->dlpi_name;
  return 1;
}

const char *image_place_find(const void *address, image_place *place) {
  struct search search = {.address = (uintptr_t)address, .place = place};
  dl_iterate_phdr(compare, &search);
  return search.name;
}

#endif

bool image_process_is_privileged(void) { return getauxval(AT_SECURE) != 0; }

/* PR_GET_MDWE, since Linux 6.3. */
bool image_process_keeps_code(void) { return (prctl(66, 0, 0, 0, 0) & 1) == 1; }

bool image_is_in_proc(int descriptor) {
  struct statfs system;
  /* PROC_SUPER_MAGIC */
  return fstatfs(descriptor, &system) == 0 && system.f_type == 0x9fa0;
}

char *image_search_path(void) {
  /* The loader has no search path of its own. It has no base if it was started with the program's path. */
  Dl_info loader;
  void *base = (void *)getauxval(AT_BASE);
  bool isFound = base && dladdr(base, &loader);
  void *image = isFound ? dlopen(loader.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  if (!image) image = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  Dl_serinfo size, *info = NULL;
  char *path = NULL;
  if (image && dlinfo(image, RTLD_DI_SERINFOSIZE, &size) == 0) info = malloc(size.dls_size);
  if (info) {
    *info = size;
    /* The size is that of all names. */
    if (dlinfo(image, RTLD_DI_SERINFO, info) == 0) path = calloc(1, size.dls_size);
    for (unsigned index = 0; path && index < info->dls_cnt; index++) {
      if (index > 0) strcat(path, ":");
      strcat(path, info->dls_serpath[index].dls_name);
    }
  }
  free(info);
  if (image) dlclose(image);
  return path;
}

int image_processor_level(void) {
#if defined __x86_64__
  __builtin_cpu_init();
  return __builtin_cpu_supports("x86-64-v4")   ? 4
         : __builtin_cpu_supports("x86-64-v3") ? 3
         : __builtin_cpu_supports("x86-64-v2") ? 2
                                               : 1;
#else
  return 0;
#endif
}

bool image_has_capabilities(int descriptor) {
  return fgetxattr(descriptor, "security.capability", NULL, 0) >= 0;
}
