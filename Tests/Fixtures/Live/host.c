// Does what its arguments say, with the real libBeeHive.so if `hive=PATH` opens it. Then it waits to
// be looked at.
#include "ready.h"
#include <beehive/runtime.h>
static void *library, *hive;
static const void *taken;
static bool visit(const beehive_entry *entry, void *context) {
  static const char *const words[] = {"bound", "accepted", "rejected", "disabled"};
  printf("%s\t%s\t%s\n", entry->source, words[entry->state],
         entry->reason ? entry->reason : "");
  return true;
}
// The note's descriptor: version, header, record, each a distance from its own place.
static int search(struct dl_phdr_info *image, size_t size, void *found) {
  for (int i = 0; i < image->dlpi_phnum; i++) {
    if (image->dlpi_phdr[i].p_type != PT_NOTE) { continue; }
    char *start = (char *)image->dlpi_addr + image->dlpi_phdr[i].p_vaddr;
    for (char *at = start; at + 32 <= start + image->dlpi_phdr[i].p_memsz; at += 4) {
      if (((int *)at)[2] == 0x42454503 && !memcmp(at + 12, "Beehive", 8)) {
        *(char **)found = at + 28 + ((int *)at)[7];
      }
    }
  }
  return 0;
}
static unsigned *record(void) {
  unsigned *found = 0;
  dl_iterate_phdr(search, &found);
  return found;
}
static const void *service(const char *name) {
  const void *(*get)(const char *, size_t) = dlsym(hive, "beehive_service");
  return get(name, 1);
}
// Bytes of the headers of the library; the magic stays, or there would be nothing to look at.
static void overwrite(unsigned seed) {
  unsigned char *base = (unsigned char *)((struct link_map *)library)->l_addr;
  if (mprotect(base, 4096, PROT_READ | PROT_WRITE)) { exit(2); }
  for (int hit = 0; hit < 8; hit++) { base[16 + rand_r(&seed) % 900] = rand_r(&seed); }
}
static void step(char *step) {
  char *value = strchr(step, '=');
  if (value) { *value++ = 0; }
  if (!strcmp(step, "open") && !(library = dlopen(value, RTLD_NOW))) { puts(dlerror()); }
  if (!strcmp(step, "hive") && !(hive = dlopen(value, RTLD_NOW))) { puts(dlerror()); }
  if (!strcmp(step, "again") && !dlmopen(LM_ID_NEWLM, value, RTLD_NOW)) { puts(dlerror()); }
  if (!strcmp(step, "overwrite")) { overwrite(atoi(value)); }
  if (!strcmp(step, "close")) { dlclose(library); }
  if (!strcmp(step, "service")) { service(value); }
  if (!strcmp(step, "entries")) {
    size_t (*entries)(bool (*)(const beehive_entry *, void *), void *) =
        dlsym(hive, "beehive_entries");
    entries(visit, 0);
  }
  if (!strcmp(step, "start") || !strcmp(step, "continue")) {
    beehive_options options = BEEHIVE_OPTIONS;
    options.on_failure =
        *step == 's' ? BEEHIVE_ON_FAILURE_SKIP : BEEHIVE_ON_FAILURE_CONTINUE;
    options.disabled = (const char *const *)&value;
    options.disabled_count = 1;
    bool (*start)(const beehive_options *) = dlsym(hive, "beehive_start_with");
    if (!start(&options)) { puts("it did not start"); }
  }
  if (!strcmp(step, "latecomers") || !strcmp(step, "stop")) {
    bool (*call)(void) = dlsym(
        hive, *step == 's' ? "beehive_stop" : "beehive_start_latecomers");
    call();
  }
  if (!strcmp(step, "take")) {
    taken = service(value);
    printf("%s\n", taken ? "taken" : "nothing");
  }
  if (!strcmp(step, "give")) {
    bool (*destroy)(const char *, const char *, const void *) =
        dlsym(hive, "beehive_destroy");
    destroy(value, 0, taken);
  }
  if (!strcmp(step, "remove")) {
    bool (*remove)(const char *) = dlsym(hive, "beehive_unregister_service");
    remove(value);
  }
  if (!strcmp(step, "word")) {
    record()[atoi(value)] = strtoul(strchr(value, ':') + 1, 0, 0);
  }
  if (!strcmp(step, "noise")) {
    unsigned seed = atoi(value), *head = record();
    unsigned char *cells = (unsigned char *)*(unsigned long *)(head + 6);
    for (int hit = 0; hit < 6; hit++) {
      unsigned char *place = seed % 2 ? cells : (unsigned char *)(head + 3);
      place[rand_r(&seed) % (place == cells ? head[5] * 32 : 20)] = rand_r(&seed);
    }
  }
  if (!strcmp(step, "reopen")) {
    for (int i = 0; i < 100; i++) {
      void *handle = dlopen(value, RTLD_NOW);
      service("Shop.HomeService");
      dlclose(handle);
      service("Nobody");
    }
    printf("%u cells\n", record()[5]);
  }
  if (!strcmp(step, "churn")) {
    puts("ready");
    for (;;) {
      void *handle = dlopen(value, RTLD_NOW);
      service("Greeter.Other");
      service("Shop.HomeService");
      dlclose(handle);
      service("Nobody");
    }
  }
}
int main(int count, char **steps) {
  setvbuf(stdout, 0, _IOLBF, 0);
  alarm(3000);
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); // for a step that does not end
  for (int i = 1; i < count; i++) { step(steps[i]); }
  be_ready();
}
