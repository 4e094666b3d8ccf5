import Foundation
import Testing

/// A C library that was used is unmapped once its owner has closed it and its services are removed, or
/// the Hive stops; and registers again when it is opened again.
@Suite struct CLibraryDepartureTests {
  /// What the library counts, in one that stays.
  private static let counts = """
    struct counts { int opened, closed, created, destroyed; };
    extern struct counts counts;

    """

  private static let library =
    counts + """
      #include <BeeHive.h>
      #include <stdlib.h>
      #include "contract.h"
      static void __attribute__((constructor)) opened(void) { counts.opened++; }
      static void __attribute__((destructor)) closed(void) { counts.closed++; }

      static const char *say(void) { return "hello"; }
      static const struct speaker speaker = { say };
      BEEHIVE_SERVICE(Speaker, Table, &speaker);

      static void *create(const beehive_context *context) {
        (void)context;
        __atomic_fetch_add(&counts.created, 1, __ATOMIC_RELAXED);
        struct speaker *made = malloc(sizeof *made);
        if (made) made->say = say;
        return made;
      }
      static void destroy(void *made) {
        __atomic_fetch_add(&counts.destroyed, 1, __ATOMIC_RELAXED);
        free(made);
      }
      BEEHIVE_SERVICE_FACTORY(Voice, Made, create, destroy, BEEHIVE_SCOPE("singleton"));

      static bool set_up(const beehive_context *context) { (void)context; return true; }
      static const beehive_module_operations module = { .set_up = set_up };
      BEEHIVE_MODULE(voices, &module);
      """

  private static let prologue =
    Workshop.prologueInC + counts + """
      static size_t lines, bytes; /* of the last look */
      static bool mapped(void) {
        static char text[1 << 20];
        FILE *maps = fopen("/proc/self/maps", "r");
        bytes = fread(text, 1, sizeof text - 1, maps);
        text[bytes] = 0;
        fclose(maps);
        lines = 0;
        for (const char *next = text; (next = strchr(next, '\\n')); next++) lines++;
        return strstr(text, "libvoices.so") != NULL;
      }
      static const char *voice(const char *service) {
        const struct speaker *speaker = beehive_service(service, sizeof(struct speaker));
        return speaker ? speaker->say() : beehive_last_error();
      }
      static void *open_library(void) { return dlopen("./libvoices.so", RTLD_NOW | RTLD_LOCAL); }
      #define STATE(what) SAY(what ": %smapped, opened %d closed %d created %d destroyed %d", \\
        mapped() ? "" : "un", counts.opened, counts.closed, counts.created, counts.destroyed)

      """

  private static func run(_ main: String, _ arguments: String...) throws -> [String] {
    let workshop = try Workshop()
    try workshop.library("counts", counts + "struct counts counts;")
    let beside = ["-L", workshop.folder.path, "-lcounts", "-Wl,-rpath," + workshop.folder.path]
    try workshop.library("voices", from: [workshop.source("voices", library)], beside)
    let host = try workshop.hostInC(prologue + "\n#line 1 \"host.c\"\n" + main, beside)
    return try workshop.output(host, arguments).split(separator: "\n").map(String.init)
  }

  @Test("Its services are removed: the last one lets it go, and opened again it registers again")
  func removed() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        for (int round = 0; round < 2; round++) {
          void *library = open_library();
          SAY("%s %s", voice("Speaker"), voice("Voice"));
          dlclose(library);
          STATE("closed");
          TRY(beehive_unregister_service("Voice"));
          STATE("one left");
          TRY(beehive_unregister_service("Speaker"));
          STATE("none left");
          SAY("%.16s", voice("Speaker"));
        }
      }
      """)
    func round(_ before: Int) -> [String] {
      let after = before + 1
      return [
        "hello hello",
        "closed: mapped, opened \(after) closed \(before) created \(after) destroyed \(before)",
        #"beehive_unregister_service("Voice"): yes"#,
        "one left: mapped, opened \(after) closed \(before) created \(after) destroyed \(after)",
        #"beehive_unregister_service("Speaker"): yes"#,
        "none left: unmapped, opened \(after) closed \(after) created \(after) destroyed \(after)",
        "service Speaker:",
      ]
    }
    #expect(said == round(0) + round(1))
  }

  @Test("Its services are removed while it is open: closing it unmaps it")
  func removedBeforeItIsClosed() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = open_library();
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        TRY(beehive_unregister_service("Voice"));
        TRY(beehive_unregister_service("Speaker"));
        STATE("removed");
        dlclose(library);
        STATE("closed");
        library = open_library();
        SAY("%s %s", voice("Speaker"), voice("Voice"));
      }
      """)
    #expect(
      said == [
        "hello hello", #"beehive_unregister_service("Voice"): yes"#,
        #"beehive_unregister_service("Speaker"): yes"#,
        "removed: mapped, opened 1 closed 0 created 1 destroyed 1",
        "closed: unmapped, opened 1 closed 1 created 1 destroyed 1", "hello hello",
      ])
  }

  @Test("The Hive stops: what was closed is unmapped, what is open can be asked again")
  func stopped() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = open_library();
        TRY(beehive_start());
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        dlclose(library);
        STATE("closed");
        TRY(beehive_stop());
        STATE("stopped");
        library = open_library();
        TRY(beehive_start());
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        TRY(beehive_stop());
        STATE("open");
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        dlclose(library);
        STATE("asked again");
        TRY(beehive_stop());
        STATE("end");
      }
      """)
    #expect(
      said == [
        "beehive_start(): yes", "hello hello",
        "closed: mapped, opened 1 closed 0 created 1 destroyed 0", "beehive_stop(): yes",
        "stopped: unmapped, opened 1 closed 1 created 1 destroyed 1", "beehive_start(): yes",
        "hello hello", "beehive_stop(): yes",
        "open: mapped, opened 2 closed 1 created 2 destroyed 2", "hello hello",
        "asked again: mapped, opened 2 closed 1 created 3 destroyed 2", "beehive_stop(): yes",
        "end: unmapped, opened 2 closed 2 created 3 destroyed 3",
      ])
  }

  @Test("1,000 times, with lookups from another thread beside: really unmapped, memory flat")
  func often() throws { try rounds(1_000) }

  @Test("20,000 times, with lookups from another thread beside", .full)
  func veryOften() throws { try rounds(20_000) }

  @Test("The Hive stops 600 times, with lookups from another thread beside: nothing is lost")
  func stoppedOften() throws { try rounds(200, "stops") }

  private func rounds(_ count: Int, _ word: String = "removals") throws {
    let said = try Self.run(
      """
      static int over;
      static void *ask(void *unused) {
        while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
          beehive_service("Speaker", sizeof(struct speaker));
          beehive_service("Voice", sizeof(struct speaker));
        }
        return unused;
      }
      int main(int argc, char **argv) {
        alarm(6000);
        if (argc != 3) return 1;
        const int rounds = atoi(argv[1]), stops = strcmp(argv[2], "stops") ? 0 : 3;
        pthread_t thread;
        pthread_create(&thread, NULL, ask, NULL);
        size_t heap = 0, parts = 0;
        for (int round = 0; round < rounds; round++) {
          void *library = open_library();
          if (strcmp(voice("Speaker"), "hello") || strcmp(voice("Voice"), "hello")) {
            SAY("round %d: %s", round, beehive_last_error());
            return 1;
          }
          if (round % 2) dlclose(library);
          for (int stop = 0; stop < stops; stop++) if (!beehive_stop()) return 1;
          const bool both =
              beehive_unregister_service("Voice") + beehive_unregister_service("Speaker") == 2;
          if (!both && !stops) return 1; /* after a stop they may have gone with the library */
          if (round % 2 == 0) dlclose(library);
          /* The other thread may be inside a lookup. */
          while (mapped()) usleep(100);
          if (round == rounds / 2) heap = mallinfo2().uordblks, parts = lines;
        }
        SAY("opened %d closed %d, %s", counts.opened, counts.closed,
            counts.created == counts.destroyed && counts.created >= rounds ? "made and given back" : "lost");
        fprintf(stderr, "created %d destroyed %d\\n", counts.created, counts.destroyed);
        /* What is freed late, and a buffer that has grown once: no more. */
        const size_t grown = mallinfo2().uordblks;
        SAY("heap %s, mappings %s", grown < heap + 512 * 1024 + 64 * (size_t)rounds ? "flat" : "grows",
            lines <= parts + 8 + (size_t)rounds / 8 ? "flat" : "grow"); /* a thread may get an arena */
        fprintf(stderr, "heap %zu to %zu, mappings %zu to %zu\\n", heap, grown, parts, lines);
        __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
      }
      """, "\(count)", word)
    #expect(
      said == ["opened \(count) closed \(count), made and given back", "heap flat, mappings flat"])
  }
}
