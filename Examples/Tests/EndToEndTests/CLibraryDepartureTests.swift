import Foundation
import Testing

/// A C library that has registered stays, whoever closes it. Whatever it has made ends with its services or with the
/// Hive.
@Suite struct CLibraryDepartureTests {
  /// The counts of the library, in another library that stays.
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

  @Test("Its services are removed: they end, and the library stays")
  func removed() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = open_library();
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        dlclose(library);
        STATE("closed");
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        TRY(beehive_unregister_service("Voice"));
        STATE("one left");
        TRY(beehive_unregister_service("Speaker"));
        STATE("none left");
        open_library();
        STATE("opened again");
        SAY("%.16s", voice("Speaker"));
      }
      """)
    #expect(
      said == [
        "hello hello", "closed: mapped, opened 1 closed 0 created 1 destroyed 0", "hello hello",
        #"beehive_unregister_service("Voice"): yes"#,
        "one left: mapped, opened 1 closed 0 created 1 destroyed 1",
        #"beehive_unregister_service("Speaker"): yes"#,
        "none left: mapped, opened 1 closed 0 created 1 destroyed 1",
        "opened again: mapped, opened 1 closed 0 created 1 destroyed 1", "service Speaker:",
      ])
  }

  @Test("One of two libraries is removed, and one of two names; an override answers until it ends")
  func one() throws {
    let workshop = try Workshop()
    for name in ["png", "jpg"] {
      try workshop.library(
        name,
        from: [
          workshop.source(
            name,
            """
            #include <BeeHive.h>
            #include "contract.h"
            static const char *say(void) { return "\(name)"; }
            static const struct speaker speaker = { say };
            BEEHIVE_SERVICE(Speaker, Codec, &speaker, BEEHIVE_NAME("\(name)"));
            """)
        ], [])
    }
    let host = try workshop.hostInC(
      Workshop.prologueInC + """
        #line 1 "host.c"
        static void ask(const char *name) {
          const struct speaker *found = beehive_service_named("Speaker", name, sizeof *found);
          SAY("%s", found ? found->say() : beehive_last_error());
        }
        static bool remark(const char *text, void *unused) { (void)unused; SAY("%s", text); return true; }
        static const char *fake(void) { return "fake"; }
        int main(void) {
          static const struct speaker speaker = { fake };
          dlopen("./libpng.so", RTLD_NOW), dlopen("./libjpg.so", RTLD_NOW);
          ask("jpg");
          TRY(beehive_override("Speaker", "jpg", &speaker));
          ask("jpg"), ask("png"), ask(NULL);
          TRY(beehive_destroy("Speaker", "jpg", &speaker));
          TRY(beehive_override_end("Speaker", "jpg"));
          TRY(beehive_override_end("Speaker", "jpg"));
          TRY(beehive_destroy("Speaker", "jpg", &speaker));
          TRY(beehive_destroy("Speaker", "jpg", &fake));
          SAY("%d", beehive_destroy("Speaker", "png", &speaker));
          ask("jpg");
          TRY(beehive_override("Speakr", NULL, &speaker));
          TRY(beehive_override("Speaker", "jpeg", &speaker));
          beehive_remarks(remark, NULL);
          TRY(beehive_override_end("Speakr", NULL));
          TRY(beehive_override_end("Speaker", "jpeg"));
          TRY(beehive_remove_image("libpng.so"));
          TRY(beehive_remove_image("libpng.so"));
          ask("jpg"), ask("png");
          beehive_remarks(remark, NULL);
          TRY(beehive_unregister_service_named("Speaker", "gif"));
          TRY(beehive_unregister_service_named("Speaker", "jpg"));
          TRY(beehive_remove(0));
        }
        """)
    let said = try workshop.output(host, []).split(separator: "\n").map(String.init)
    #expect(
      said == [
        "jpg", #"beehive_override("Speaker", "jpg", &speaker): yes"#, "fake", "png", "png",
        #"beehive_destroy("Speaker", "jpg", &speaker): yes"#,
        #"beehive_override_end("Speaker", "jpg"): yes"#,
        #"beehive_override_end("Speaker", "jpg"): service Speaker: no override of this name is there to end"#,
        #"beehive_destroy("Speaker", "jpg", &speaker): yes"#,
        #"beehive_destroy("Speaker", "jpg", &fake): service Speaker: no factory of this name has made it, or it is kept "#
          + "until its scope or the Hive ends",
        "0", "jpg", #"beehive_override("Speakr", NULL, &speaker): yes"#,
        #"beehive_override("Speaker", "jpeg", &speaker): yes"#,
        "the override of Speakr (host.c:20) hides no service that is declared; did you mean Speaker?",
        "the override of Speaker named jpeg (host.c:21) hides no service that is declared; did you mean jpg?",
        #"beehive_override_end("Speakr", NULL): yes"#,
        #"beehive_override_end("Speaker", "jpeg"): yes"#,
        #"beehive_remove_image("libpng.so"): yes"#,
        #"beehive_remove_image("libpng.so"): library libpng.so: it has not registered, or was removed"#,
        "jpg", "service Speaker named png: libjpg.so BeehiveRecords[0]: is named jpg",
        "libpng.so is out of use: it stays loaded, so opening it again registers nothing; "
          + "hive.plugins.load brings a plugin back, else open a new build from a file of another name",
        #"beehive_unregister_service_named("Speaker", "gif"): service Speaker named gif: nothing of this name is registered"#,
        #"beehive_unregister_service_named("Speaker", "jpg"): yes"#,
        "beehive_remove(0): entry 0: it is not there, or was removed",
      ])
  }

  @Test(
    "It is replaced by another build, from elsewhere than its module, and who has something of it is named"
  )
  func replaced() throws {
    let workshop = try Workshop()
    for (file, word) in [("voices", "one"), ("new", "two")] {
      try workshop.library(
        file,
        from: [
          workshop.source(
            file,
            """
            #include <BeeHive.h>
            #include "contract.h"
            void beehive_test_inside(void);
            static const char *say(void) { return "\(word)"; }
            static void *create(const beehive_context *context) {
              static struct speaker speaker = { say };
              return context ? &speaker : 0;
            }
            static void destroy(void *made) { (void)made; }
            BEEHIVE_SERVICE_FACTORY(Speaker, Each, create, destroy);
            BEEHIVE_SERVICE_FACTORY(Scoped, Each, create, destroy, BEEHIVE_SCOPE("scoped"));
            static bool event(const beehive_context *context, const beehive_event *event) {
              (void)context, (void)event;
              beehive_test_inside();
              return true;
            }
            static const beehive_module_operations module = { .event = event };
            BEEHIVE_MODULE(voices, &module);
            """)
        ], [])
    }
    let host = try workshop.hostInC(
      Workshop.prologueInC + """
        static const char *voice(void) {
          const struct speaker *found = beehive_service("Speaker", sizeof *found);
          return found ? found->say() : beehive_last_error();
        }
        void beehive_test_inside(void) { TRY(beehive_replace("libvoices.so")); }
        static bool remark(const char *text, void *unused) { (void)unused; SAY("%s", strstr(text, "is out")); return true; }
        int main(void) {
          alarm(600);
          dlopen("./libvoices.so", RTLD_NOW);
          TRY(beehive_start());
          beehive_scope *scope = beehive_scope_begin(NULL);
          beehive_scope_service(scope, "Scoped", NULL, 0);
          SAY("%s", voice());
          rename("libnew.so", "libvoices.so");
          TRY(beehive_trigger(1000, "inside", NULL, 0));
          TRY(beehive_replace("libvoices.so"));
          SAY("%s", voice());
          beehive_remarks(remark, NULL);
          TRY(beehive_replace("libvoices.so"));
          SAY("%s", voice());
        }
        """, ["-rdynamic"])
    let said = try workshop.output(host, []).split(separator: "\n").map(String.init)
    #expect(
      said == [
        "beehive_start(): yes", "one",
        #"beehive_replace("libvoices.so"): libvoices.so was not replaced: this, a start "#
          + "or a stop waits for the calling module; call from elsewhere",
        #"beehive_trigger(1000, "inside", NULL, 0): yes"#, #"beehive_replace("libvoices.so"): yes"#,
        "two",
        "is out of use: service Speaker (libvoices.so BeehiveRecords[0]), objects of its factory that were not given "
          + "back: 1",
        "is out of use: service Scoped (libvoices.so BeehiveRecords[1]), scopes that have made it: 1",
        #"beehive_replace("libvoices.so"): libvoices.so was not replaced: libvoices.so is the same file, or loaded "#
          + "already; rename a copy of the new build to it",
        "two",
      ])
  }

  @Test("The Hive stops: what was made is given back, and made again for who asks")
  func stopped() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = open_library();
        TRY(beehive_start());
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        dlclose(library);
        TRY(beehive_stop());
        STATE("stopped");
        TRY(beehive_start());
        SAY("%s %s", voice("Speaker"), voice("Voice"));
        TRY(beehive_stop());
        STATE("end");
      }
      """)
    #expect(
      said == [
        "beehive_start(): yes", "hello hello", "beehive_stop(): yes",
        "stopped: mapped, opened 1 closed 0 created 1 destroyed 1", "beehive_start(): yes",
        "hello hello", "beehive_stop(): yes",
        "end: mapped, opened 1 closed 0 created 2 destroyed 2",
      ])
  }

  @Test(
    "Opened, closed and stopped 2,000 times, with lookups from another thread beside: memory is flat"
  )
  func often() throws {
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
      int main(void) {
        alarm(600);
        pthread_t thread;
        pthread_create(&thread, NULL, ask, NULL);
        size_t heap = 0, parts = 0;
        for (int round = 0; round < 2000; round++) {
          void *library = open_library();
          if (strcmp(voice("Speaker"), "hello") || strcmp(voice("Voice"), "hello")) {
            SAY("round %d: %s", round, beehive_last_error());
            return 1;
          }
          dlclose(library);
          if (!beehive_stop()) return 1;
          if (round == 1000) mapped(), heap = mallinfo2().uordblks, parts = lines;
        }
        __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
        pthread_join(thread, NULL);
        beehive_stop();
        STATE("end");
        /* What is freed late, and a buffer that has grown once: no more. */
        const size_t grown = mallinfo2().uordblks;
        SAY("heap %s, mappings %s", grown < heap + 640 * 1024 ? "flat" : "grows",
            lines <= parts + 256 ? "flat" : "grow"); /* a thread may get an arena */
        SAY("%s", counts.created == counts.destroyed ? "all given back" : "lost");
      }
      """)
    #expect(said.first?.hasPrefix("end: mapped, opened 1 closed 0 ") == true, "\(said)")
    #expect(said.dropFirst() == ["heap flat, mappings flat", "all given back"])
  }
}
