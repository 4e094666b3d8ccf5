import Testing

// The registrations that modules in C make.
extension CRuntimeTests {
  @Test("What a module registers is there in each of three starts, and gone after each stop")
  func startAgain() throws {
    let said = try host(
      """
      static const char *say(void) { return "from the module"; }
      static const struct speaker speaker = { say };
      NAMED(late);
      static bool set_up(const beehive_context *c) {
        (void)c;
        return beehive_register_service("Speaker", "Mine", &speaker) &&
               beehive_register_module("late", &late);
      }
      static const beehive_module_operations owner = { .set_up = set_up };
      static bool list(const beehive_entry *e, void *unused) { (void)unused; SAY("%s", e->name); return true; }
      int main(void) {
        alarm(120);
        TRY(beehive_register_module("owner", &owner));
        for (int i = 0; i < 3; i++) {
          TRY(beehive_start());
          SAY("%s", BEEHIVE_SERVICE_TABLE(Speaker, struct speaker)->say());
          TRY(beehive_stop());
          SAY("%zu", beehive_entries(list, NULL));
        }
      }
      """, in: Workshop())
    let round = [
      "late set_up", "beehive_start(): yes", "from the module", "late unmount",
      "beehive_stop(): yes", "owner", "1",
    ]
    #expect(
      said == [#"beehive_register_module("owner", &owner): yes"#] + round + round + round)
  }

  @Test("The main thread, while it waits, runs what is isolated to the main actor")
  func mainActor() throws {
    let said = try host(
      """
      #include <semaphore.h>
      static sem_t ran;
      static void work(void *unused) {
        SAY("on the main thread: %d", gettid() == getpid());
        sem_post(&ran);
      }
      static bool set_up(const beehive_context *c) {
        void *dispatch = dlopen("libdispatch.so", RTLD_NOW | RTLD_NOLOAD);
        void (*async)(void *, void *, void (*)(void *)) = dlsym(dispatch, "dispatch_async_f");
        async(dlsym(dispatch, "_dispatch_main_q"), NULL, work);
        return sem_wait(&ran) == 0;
      }
      static const beehive_module_operations window = { .set_up = set_up };
      int main(void) {
        alarm(120);
        TRY(beehive_register_module("window", &window));
        for (int i = 0; i < 2; i++) {
          TRY(beehive_start());
          TRY(beehive_stop());
        }
      }
      """, in: Workshop())
    let round = ["on the main thread: 1", "beehive_start(): yes", "beehive_stop(): yes"]
    #expect(said == [#"beehive_register_module("window", &window): yes"#] + round + round)
  }

  private static let refusal =
    "this thread holds a lock of the loader that other threads wait for, so it waits no longer; its request goes on, "
    + "make it outside of constructors, destructors and callbacks of dl_iterate_phdr"

  @Test("A start in a callback of the loader says why it cannot wait, on any thread, and goes on")
  func callback() throws {
    let said = try host(
      """
      #include <link.h>
      NAMED(plain);
      static int start(struct dl_phdr_info *info, size_t size, void *unused) {
        (void)info, (void)size, (void)unused;
        TRY(beehive_start());
        return 1;
      }
      static void *walk(void *unused) { return dl_iterate_phdr(start, NULL), unused; }
      int main(void) {
        alarm(120);
        TRY(beehive_register_module("plain", &plain));
        for (int i = 0; i < 2; i++) {
          pthread_t other;
          if (i) walk(NULL);
          else if (!pthread_create(&other, NULL, walk, NULL)) pthread_join(other, NULL);
          TRY(beehive_start());
          TRY(beehive_stop());
        }
      }
      """, in: Workshop())
    let round = [
      "beehive_start(): \(Self.refusal)", "plain set_up", "beehive_start(): yes", "plain unmount",
      "beehive_stop(): yes",
    ]
    #expect(said == [#"beehive_register_module("plain", &plain): yes"#] + round + round)
  }

  @Test(
    "A constructor that starts a module which opens a library gets an answer, and the module starts"
  )
  func constructor() throws {
    let workshop = try Workshop()
    try workshop.library("opened", "int opened;")
    try workshop.library(
      "starter",
      """
      #include <beehive/runtime.h>
      #include <stdio.h>
      __attribute__((constructor)) static void start(void) {
        if (!beehive_start()) puts(beehive_last_error());
        fflush(stdout);
      }
      """, "-Wl,--allow-shlib-undefined")
    let said = try host(
      """
      static bool set_up(const beehive_context *c) {
        (void)c;
        SAY("opened %d", dlopen("./libopened.so", RTLD_NOW) != NULL);
        return true;
      }
      static const beehive_module_operations opener = { .set_up = set_up };
      int main(void) {
        alarm(120);
        TRY(beehive_register_module("opener", &opener));
        if (!dlopen("./libstarter.so", RTLD_NOW)) SAY("%s", dlerror());
        TRY(beehive_start());
      }
      """, in: workshop)
    #expect(
      said == [
        #"beehive_register_module("opener", &opener): yes"#, Self.refusal, "opened 1",
        "beehive_start(): yes",
      ])
  }
}
