// A host in C with plugins: a line for each entry, each remark, and each image with a note segment.
#define _GNU_SOURCE
#include <beehive/runtime.h>
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
static bool entry(const beehive_entry *entry, void *unused) {
  (void)unused;
  printf("entry %s\n", entry->name);
  return true;
}
static bool remark(const char *remark, void *unused) {
  (void)unused;
  printf("remark %s\n", remark);
  return true;
}
static int note(struct dl_phdr_info *image, size_t size, void *unused) {
  (void)size, (void)unused;
  for (int i = 0; i < image->dlpi_phnum; i++) {
    if (image->dlpi_phdr[i].p_type != PT_NOTE) continue;
    printf("noted %s\n", image->dlpi_name);
    break;
  }
  return 0;
}
int main(int count, char **plugins) {
  for (int i = 1; i < count; i++)
    if (!dlopen(plugins[i], RTLD_NOW)) { puts(dlerror()); return 1; }
  beehive_entries(entry, NULL);
  beehive_remarks(remark, NULL);
  dl_iterate_phdr(note, NULL);
  return 0;
}
