import Foundation
import Testing

/// Things that a C library has made end once, after the modules that use them. Meanwhile nothing waits for itself.
@Suite struct CEndingsTests {
  /// A library that tells the host where it is, if the host has a `hook`, and never frees what it made.
  private static let keeper = """
    #include <BeeHive.h>
    #include <stdio.h>
    #include <stdlib.h>
    extern void hook(const char *place) __attribute__((weak));
    struct thing { int isAlive; };
    static void *make(void) {
      struct thing *made = calloc(1, sizeof *made);
      if (made) made->isAlive = 1;
      return made;
    }
    static void end(const char *name, struct thing *thing) {
      printf("%s ends%s\\n", name, thing->isAlive ? "" : " AGAIN");
      thing->isAlive = 0;
      if (hook) hook(name);
    }
    #define FACTORY(name, attributes) \\
      static void *create_##name(const beehive_context *c) { (void)c; return make(); } \\
      static void destroy_##name(void *made) { end(#name, made); } \\
      BEEHIVE_SERVICE_FACTORY(name, Thing, create_##name, destroy_##name, attributes);
    FACTORY(Cache, BEEHIVE_SCOPE("singleton"))
    FACTORY(Log, BEEHIVE_SCOPE("singleton"))
    FACTORY(Disk, BEEHIVE_SCOPE("weak"))
    FACTORY(Ticket, BEEHIVE_SCOPE("transient"))

    static const struct thing *cache;
    static void use(const char *place) {
      printf("%s%s\\n", place, cache->isAlive ? "" : " WITHOUT CACHE");
      if (hook) hook(place);
    }
    static bool set_up(const beehive_context *context) {
      cache = beehive_context_service(context, "Cache", NULL, sizeof *cache);
    #ifdef FAILING
      return false;
    #endif
      return cache != NULL;
    }
    static bool event(const beehive_context *context, const beehive_event *event) {
      use("event");
      return context && event;
    }
    static void tear_down(const beehive_context *context) { if (context) use("tear_down"); }
    static const beehive_module_operations operations =
        { .set_up = set_up, .event = event, .tear_down = tear_down };
    BEEHIVE_MODULE(keeper, &operations);
    """

  /// Runs a host whose `main` opens the library; a hang ends it by a signal.
  private func run(_ hook: String, _ main: String) throws -> [String] {
    let workshop = try Workshop()
    let source = try workshop.source("keeper", Self.keeper)
    for (name, options) in [("keeper", []), ("next", []), ("failing", ["-DFAILING"])] {
      try workshop.library(name, from: [source], options)
    }
    let host = try workshop.hostInC(
      Workshop.prologueInC + """
        static const void *held;
        void hook(const char *place) { \(hook); }
        static void *trigger(void *nothing) { beehive_trigger(1000, "sold", NULL, 0); return nothing; }
        int main(void) {
          alarm(300);
          setvbuf(stdout, NULL, _IOLBF, 0);
          dlopen("./libkeeper.so", RTLD_NOW);
          if (!beehive_start()) return puts(beehive_last_error()), 1;
          \(main)
          beehive_stop();
        }
        """, ["-rdynamic"])
    return try workshop.output(host, []).split(separator: "\n").map(String.init)
  }

  @Test(
    "Modules have their services until they are down",
    arguments: [
      "beehive_stop()", "beehive_remove_image(\"libkeeper.so\")",
      "beehive_replace_with(\"libkeeper.so\", \"./libnext.so\")",
    ])
  func order(call: String) throws {
    let said = try run(
      "if (!strcmp(place, \"event\")) usleep(300000)",
      """
      pthread_t thread;
      pthread_create(&thread, NULL, trigger, NULL);
      usleep(100000);
      if (!\(call)) puts(beehive_last_error());
      pthread_join(thread, NULL);
      """)
    #expect(said.starts(with: ["event", "tear_down", "Cache ends"]), "\(said)")
  }

  @Test("A build that does not start leaves the old one what it has")
  func failedReplacement() throws {
    let said = try run(
      "(void)place",
      """
      const void *cache = beehive_service("Cache", 0), *disk = beehive_service("Disk", 0);
      SAY("%d", beehive_replace_with("libkeeper.so", "./libfailing.so"));
      SAY("%d %d", beehive_service("Cache", 0) == cache, beehive_service("Disk", 0) == disk);
      SAY("%d %d", beehive_destroy("Disk", 0, disk), beehive_destroy("Disk", 0, disk));
      SAY("%d", beehive_destroy("Disk", 0, disk));
      """)
    #expect(
      said == [
        "tear_down", "Cache ends", "0", "1 1", "Disk ends", "1 1", "0", "tear_down", "Cache ends",
      ], "\(said)")
  }

  @Test("What is made while a stop ends singletons ends once")
  func lateWeak() throws {
    let said = try run(
      "if (!strcmp(place, \"Log\")) held = beehive_service(\"Disk\", 0)",
      """
      beehive_service("Disk", 0);
      beehive_service("Log", 0);
      beehive_stop();
      SAY("%d %d", held != NULL, beehive_destroy("Disk", 0, held));
      """)
    #expect(said == ["tear_down", "Log ends", "Disk ends", "Cache ends", "1 0"], "\(said)")
  }

  @Test(
    "A destroy that waits for the stop which runs it gets an answer",
    arguments: [
      "beehive_stop()", "beehive_start()", "beehive_start_latecomers()",
      "beehive_register_module(\"late\", &(beehive_module_operations){0})",
      "beehive_replace(\"libkeeper.so\")", "beehive_run(NULL)",
    ])
  func stopInDestroy(call: String) throws {
    let said = try run("if (!strcmp(place, \"Cache\")) \(call)", "TRY(beehive_stop());")
    #expect(said == ["tear_down", "Cache ends", "beehive_stop(): yes"], "\(said)")
  }

  @Test(
    "A stop or a run in the tear down of a module that is removed gets an answer",
    arguments: ["beehive_stop()", "beehive_run(NULL)"],
    ["beehive_unregister_module(\"keeper\")", "beehive_remove_image(\"libkeeper.so\")"])
  func stopInRemoval(call: String, removal: String) throws {
    let said = try run("if (!strcmp(place, \"tear_down\")) \(call)", "SAY(\"%d\", \(removal));")
    #expect(said.contains("1") && said.contains("Cache ends"), "\(said)")
  }

  @Test(
    "An object of its asker's is given back after its service has left",
    arguments: [
      "beehive_unregister_service(\"Ticket\")", "beehive_remove_image(\"libkeeper.so\")",
      "beehive_replace_with(\"libkeeper.so\", \"./libnext.so\")",
      "beehive_override(\"Ticket\", NULL, &held)",
    ])
  func givenBackLater(call: String) throws {
    let said = try run(
      "(void)place",
      """
      const void *ticket = beehive_service("Ticket", 0);
      if (!\(call)) puts(beehive_last_error());
      SAY("%d", beehive_destroy("Ticket", NULL, ticket));
      SAY("%d", beehive_destroy("Ticket", NULL, ticket));
      """)
    let given = said.filter { ["Ticket ends", "0", "1"].contains($0) }
    #expect(given == ["Ticket ends", "1", "0"], "\(said)")
  }

  @Test("A file that is cut off replaces nothing")
  func cutOff() throws {
    let said = try run(
      "(void)place",
      """
      system("head -c 3000 libnext.so > cut.so");
      TRY(beehive_replace_with("libkeeper.so", "./cut.so"));
      """)
    #expect(said.first?.contains("The file ends before") == true, "\(said)")
  }
}
