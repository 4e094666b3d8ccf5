import Foundation
import Testing

/// Hosts in C that take libraries out and open the next build, most while other threads use the same Hive.
@Suite struct CRuntimeRacesTests {
  /// A module that counts in the host what began and what ended, and a table.
  private static let library = """
    #include <BeeHive.h>
    extern void began(int), ended(int);
    static const int number = 1;
    BEEHIVE_SERVICE($NAME, Table, &number);
    #ifdef MODULE
    static bool set_up(const beehive_context *context) { began(0); return context != 0; }
    static bool initialize(const beehive_context *context) { began(1); return context != 0; }
    static void tear_down(const beehive_context *context) { (void)context; ended(1); }
    static void unmount(const beehive_context *context) { (void)context; ended(0); }
    static const beehive_module_operations operations = {
      .set_up = set_up, .initialize = initialize, .tear_down = tear_down, .unmount = unmount };
    BEEHIVE_MODULE(worker, &operations);
    #endif
    """

  /// Hides the function that would tell the Hive of a library.
  private static let mute = """
    __attribute__((visibility("hidden"))) void beehive_image_event(void *image, int event);
    void beehive_image_event(void *image, int event) { (void)image; (void)event; }
    """

  private static let prologue =
    Workshop.prologueInC + """
      static int begun[2], over[2];
      void began(int step) { __atomic_fetch_add(&begun[step], 1, __ATOMIC_RELAXED); }
      void ended(int step) { __atomic_fetch_add(&over[step], 1, __ATOMIC_RELAXED); }
      static void *open_it(const char *path) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) { SAY("%s", dlerror()); exit(1); }
        return library;
      }
      /* A new build has a name of its own: the loader knows the one that stays by its name, and by its file. */
      static void *open_copy(const char *name, int number) {
        char command[128], path[64];
        snprintf(path, sizeof path, "./lib%s-%d.so", name, number);
        snprintf(command, sizeof command, "cp lib%s.so %s", name, path);
        if (system(command)) exit(1);
        return open_it(path);
      }

      """

  private func run(_ main: String, isSilent: Bool = false, _ arguments: String...) throws -> String
  {
    let workshop = try Workshop()
    for name in ["one", "two"] {
      let text = Self.library.replacing("$NAME", with: name)
      var files = [try workshop.source(name, text)]
      if isSilent { files.append(try workshop.source("mute", Self.mute)) }
      try workshop.library(name, from: files, name == "one" && !isSilent ? ["-DMODULE"] : [])
    }
    let host = try workshop.hostInC(
      Self.prologue + "\n#line 1 \"host.c\"\n" + main, ["-rdynamic"])
    return try workshop.output(host, arguments)
  }

  @Test(
    "Modules are unregistered beside starts and stops: what began ends",
    arguments: ["u", "us", "suu"], ["starts", "runs"])
  func unregisteredBesides(who: String, _ when: String) throws {
    let said = try run(
      """
      static pthread_barrier_t all;
      static void *act(void *what) {
        pthread_barrier_wait(&all);
        switch (*(const char *)what) {
        case 'u': beehive_unregister_module("worker"); break;
        case 's': beehive_stop(); break;
        default: beehive_start();
        }
        return NULL;
      }
      int main(int argc, char **argv) {
        alarm(600);
        if (argc != 3) return 1;
        char acts[8] = "a";
        /* Of a Hive that runs already, or beside the start itself. */
        const bool runs = argv[2][0] == 'r';
        strcpy(acts + !runs, argv[1]);
        for (int round = 0; round < 200; round++) {
          void *library = open_copy("one", round);
          if (runs) beehive_start();
          pthread_t threads[8];
          const size_t count = strlen(acts);
          pthread_barrier_init(&all, NULL, (unsigned)count);
          for (size_t i = 0; i < count; i++) pthread_create(&threads[i], NULL, act, &acts[i]);
          for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
          beehive_stop();
          dlclose(library);
          if (begun[0] != over[0] || begun[1] != over[1]) {
            SAY("round %d: set up %d unmounted %d, initialized %d torn down %d", round,
                begun[0], over[0], begun[1], over[1]);
            return 0;
          }
        }
        SAY("all ended");
      }
      """, who, when)
    #expect(said == "all ended\n")
  }

  @Test("A library is replaced, as documented, while others ask for its service: none is missing")
  func replacedWhileAsked() throws {
    let said = try run(
      """
      static int over_all;
      static void *ask(void *unused) {
        while (!__atomic_load_n(&over_all, __ATOMIC_RELAXED)) beehive_service("one", sizeof(int));
        return unused;
      }
      int main(void) {
        alarm(600);
        pthread_t thread;
        pthread_create(&thread, NULL, ask, NULL);
        int missing = 0;
        for (int round = 0; round < 300; round++) {
          void *library = open_copy("one", round);
          if (!beehive_service("one", sizeof(int)) && !missing++) SAY("%s", beehive_last_error());
          beehive_unregister_module("worker");
          beehive_unregister_service("one");
          dlclose(library);
        }
        __atomic_store_n(&over_all, 1, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
        SAY("%d missing", missing);
      }
      """)
    #expect(said == "0 missing\n")
  }

  @Test("Libraries that announce nothing come and are closed on two threads: each answers at once")
  func silent() throws {
    let said = try run(
      """
      static int missing;
      static void *use(void *name) {
        for (int round = 0; round < 200; round++) {
          void *library = open_copy(name, round);
          const int *number = beehive_service(name, sizeof(int));
          if (!number) {
            if (!__atomic_fetch_add(&missing, 1, __ATOMIC_RELAXED)) SAY("%s", beehive_last_error());
          } else {
            beehive_unregister_service(name);
          }
          dlclose(library);
        }
        return NULL;
      }
      int main(void) {
        alarm(600);
        pthread_t one, two;
        pthread_create(&one, NULL, use, "one");
        pthread_create(&two, NULL, use, "two");
        pthread_join(one, NULL);
        pthread_join(two, NULL);
        SAY("%d missing", missing);
      }
      """, isSilent: true)
    #expect(said == "0 missing\n")
  }
}
