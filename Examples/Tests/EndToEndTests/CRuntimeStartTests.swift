import Testing

// What modules register that are written in C.
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
}
