import Foundation
import Testing

/// Every function of runtime.h, called wherever code of a host may be: each comes back with an answer or an error.
@Suite struct CallsTests {
  /// Where the functions are called.
  enum Place: String, CaseIterable, CustomTestStringConvertible {
    case main, thread, pool, setUp, initialize, splash, tearDown, unmount, event, create, destroy,
      atexit, child,
      constructor, destructor

    var testDescription: String { rawValue }
  }

  private static let host =
    Workshop.prologueInC + """
      #include <sys/wait.h>
      static const char *place; /* where to call, and -1 once that was done */
      static const beehive_module_operations extra;
      static bool entry(const beehive_entry *e, void *x) { (void)e, (void)x; return true; }
      static bool remark(const char *r, void *x) { (void)r, (void)x; return true; }
      static const char *say(void) { return "said"; }
      static const struct speaker speaker = { say };

      /* Calls all that are not waiting for a signal by design. */
      void beehive_test_calls(const char *here) {
        if (!place || strcmp(here, place)) return;
        place = NULL;
        alarm(60);
        TRY(beehive_start());
        TRY(beehive_start_with(NULL));
        TRY(beehive_start_latecomers());
        TRY(beehive_service("Speaker", sizeof speaker));
        TRY(beehive_service_named("Speaker", "x", sizeof speaker));
        TRY(beehive_destroy("Speaker", NULL, &speaker));
        beehive_scope *scope = beehive_scope_begin(NULL);
        TRY(beehive_scope_service(scope, "Thing", NULL, 0));
        beehive_scope_end(scope);
        SAY("entries %d", beehive_entries(entry, NULL) > 0);
        SAY("remarks %d", beehive_remarks(remark, NULL) < 100);
        TRY(beehive_trigger(1001, "inner", NULL, 0));
        TRY(beehive_register_service("Late", "Mine", &speaker));
        TRY(beehive_unregister_service("Late"));
        TRY(beehive_override("Speaker", NULL, &speaker));
        TRY(beehive_override_end("Speaker", NULL));
        TRY(beehive_register_module("extra", &extra));
        TRY(beehive_unregister_module("extra"));
        TRY(beehive_remove_image("libnone.so"));
        TRY(beehive_replace("libcalls.so"));
        TRY(beehive_stop());
        SAY("came through");
      }
      static void *thread(void *here) { beehive_test_calls(here); return NULL; }
      static void job(void *here) { beehive_test_calls(here); if (place) pause(); }
      #define STEP(name, here) \\
        static bool name(const beehive_context *c) { (void)c; beehive_test_calls(here); return true; }
      #define LAST(name, here) static void name(const beehive_context *c) { (void)c; beehive_test_calls(here); }
      STEP(set_up, "setUp") STEP(initialize, "initialize") STEP(splash, "splash")
      LAST(tear_down, "tearDown") LAST(unmount, "unmount")
      static bool event(const beehive_context *c, const beehive_event *e) {
        (void)c, (void)e;
        beehive_test_calls("event");
        return true;
      }
      static const beehive_module_operations module = {
        .set_up = set_up, .initialize = initialize, .splash = splash, .tear_down = tear_down, .unmount = unmount,
        .event = event,
      };
      static void at_exit(void) { beehive_test_calls("atexit"); }

      int main(int count, char **arguments) {
        (void)count;
        place = arguments[1];
        alarm(100);
        atexit(at_exit);
        void *library = dlopen("./libcalls.so", RTLD_NOW);
        if (!library) return puts(dlerror()), 1;
        TRY(beehive_register_module("module", &module));
        TRY(beehive_start());
        beehive_test_calls("main");
        if (place && !strcmp(place, "thread")) {
          pthread_t other;
          pthread_create(&other, NULL, thread, "thread");
          pthread_join(other, NULL);
        }
        if (place && !strcmp(place, "pool")) {
          void *dispatch = dlopen("libdispatch.so", RTLD_NOW | RTLD_NOLOAD);
          void *(*queue)(long, unsigned long) = dlsym(dispatch, "dispatch_get_global_queue");
          void (*async)(void *, void *, void (*)(void *)) = dlsym(dispatch, "dispatch_async_f");
          for (int i = 0; i < 256; i++) async(queue(0, 0), i ? "none" : "pool", job);
          while (place) usleep(1000);
          sleep(1);
        }
        if (place && !strcmp(place, "child")) {
          pid_t child = fork();
          if (!child) return beehive_test_calls("child"), _exit(0), 0;
          waitpid(child, NULL, 0);
          place = NULL;
        }
        beehive_trigger(1000, "outer", NULL, 0);
        const void *thing = beehive_service("Thing", 0);
        beehive_destroy("Thing", NULL, thing);
        dlclose(library);
        beehive_stop();
        SAY("end");
      }
      """

  private static let library = """
    #include <BeeHive.h>
    void beehive_test_calls(const char *here);
    static void *create(const beehive_context *c) { static int thing; (void)c; beehive_test_calls("create"); return &thing; }
    static void destroy(void *thing) { (void)thing; beehive_test_calls("destroy"); }
    BEEHIVE_SERVICE_FACTORY(Thing, Thing, create, destroy);
    static void __attribute__((constructor)) opened(void) { beehive_test_calls("constructor"); }
    static void __attribute__((destructor)) closed(void) { beehive_test_calls("destructor"); }
    """

  @Test("It comes back", .timeLimit(.minutes(5)), arguments: Place.allCases)
  func comesBack(place: Place) throws {
    let workshop = try Workshop()
    let host = try workshop.hostInC(Self.host, ["-rdynamic"])
    try workshop.library("calls", from: [workshop.source("calls", Self.library)], [])
    let said = try workshop.output(host, [place.rawValue])
    #expect(said.contains("came through"))
    #expect(said.hasSuffix("end\n") || place == .atexit || place == .destructor)
  }
}
