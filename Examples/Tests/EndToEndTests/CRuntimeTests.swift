import Foundation
import Testing

/// Hosts in C that include <beehive/runtime.h>, link libBeeHive.so and never name Swift. They may use one processor
/// only, so that a host that blocks the pool of threads hangs and is ended by the alarm.
@Suite(.needs("taskset")) struct CRuntimeTests {
  /// The beginning of every host: a module that prints its calls.
  private static let prologue =
    Workshop.prologueInC + """
      #define NAMED(module) \\
        static bool module##_set_up(const beehive_context *c) { (void)c; SAY(#module " set_up"); return true; } \\
        static bool module##_event(const beehive_context *c, const beehive_event *e) { \\
          (void)c; SAY(#module " %lld %s %.*s", (long long)e->number, e->name, (int)e->payload_size, \\
                       (const char *)e->payload); return true; } \\
        static void module##_unmount(const beehive_context *c) { (void)c; SAY(#module " unmount"); } \\
        static const beehive_module_operations module = { \\
          .set_up = module##_set_up, .event = module##_event, .unmount = module##_unmount }

      """

  /// The first processor that this process may use.
  private static let processor: String = {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    return status?.firstMatch(of: /Cpus_allowed_list:\s*([0-9]+)/).map { String($0.1) } ?? "0"
  }()

  /// Compiles a host, runs it on one processor, and returns the lines that it prints.
  func host(_ text: String, in workshop: Workshop) throws -> [String] {
    let path = try workshop.hostInC(Self.prologue + "\n#line 1 \"host.c\"\n" + text)
    return try workshop.output("taskset", ["-c", Self.processor, path]).split(separator: "\n")
      .map(String.init)
  }

  @Test("Start, events and stop, in the declared order; who comes later is started at once")
  func lifecycle() throws {
    let said = try host(
      """
      NAMED(one); NAMED(two);
      int main(void) {
        alarm(120);
        TRY(beehive_register_module("one", &one));
        TRY(beehive_start());
        TRY(beehive_register_module("two", &two));
        TRY(beehive_trigger(1001, "sold", "tea", 3));
        TRY(beehive_trigger(999, "sold", NULL, 0));
        TRY(beehive_trigger(1000, "sold", "tea", (size_t)-1));
        TRY(beehive_unregister_module("one"));
        TRY(beehive_trigger(1002, "bare", NULL, 0));
        TRY(beehive_unregister_module("one"));
        TRY(beehive_stop());
        bool told = beehive_trigger(1000, "late", NULL, 0);
        SAY("none: %d %s", told, beehive_last_error());
      }
      """, in: Workshop())
    #expect(
      said == [
        #"beehive_register_module("one", &one): yes"#, "one set_up", "beehive_start(): yes",
        "two set_up", #"beehive_register_module("two", &two): yes"#, "one 1001 sold tea",
        "two 1001 sold tea", #"beehive_trigger(1001, "sold", "tea", 3): yes"#,
        #"beehive_trigger(999, "sold", NULL, 0): event 999: the numbers below 1000 are taken"#,
        "beehive_trigger(1000, \"sold\", \"tea\", (size_t)-1): event 1000: no payload has \(UInt.max) bytes",
        "one unmount", #"beehive_unregister_module("one"): yes"#, "two 1002 bare ",
        #"beehive_trigger(1002, "bare", NULL, 0): yes"#,
        #"beehive_unregister_module("one"): module one: nothing of this name is registered"#,
        "two unmount", "beehive_stop(): yes",
        "none: 0 event 1000 late: no module has handled it; told: none, so start the Hive first",
      ])
  }

  @Test("A service of an opened library; one that is missing, and one that is too small")
  func services() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker(says: "from afar"))
    let said = try host(
      """
      struct longer { struct speaker speaker; void *more; };
      int main(void) {
        alarm(120);
        SAY("%d", BEEHIVE_SERVICE_TABLE(Speaker, struct speaker) != NULL);
        SAY("%s", beehive_last_error());
        dlopen("./libspeaker.so", RTLD_NOW | RTLD_LOCAL);
        SAY("%s", BEEHIVE_SERVICE_TABLE(Speaker, struct speaker)->say());
        SAY("error '%s'", beehive_last_error());
        SAY("%d", BEEHIVE_SERVICE_TABLE(Speaker, struct longer) != NULL);
        SAY("%s", beehive_last_error());
        SAY("%d", beehive_service(NULL, 0) != NULL);
      }
      """, in: workshop)
    #expect(
      said == [
        "0",
        "service Speaker: no C library that is loaded provides it; link or dlopen the one that does",
        "from afar", "error ''", "0",
        "service Speaker: libspeaker.so BeehiveRecords[0] has a table of 8 bytes where 16 are "
          + "expected; rebuild it against the newer header",
        "0",
      ])
  }

  @Test("Registered by the host: listed with file and line, refused as a duplicate, removed")
  func registration() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker() + "BeeHiveMod(Shop.Vanished);")
    let said = try host(
      """
      static const char *say(void) { return "from the host"; }
      static const struct speaker speaker = { say };
      static bool list(const beehive_entry *e, void *left) {
        SAY("%u %s %s, %s, %s: %s", e->state, e->kind, e->name,
            e->implementation ? e->implementation : "-", e->source, e->reason ? e->reason : "-");
        return --*(int *)left > 0;
      }
      int main(void) {
        alarm(120);
        int many = 9, one = 1;
        TRY(beehive_register_service("Speaker", "Mine", &speaker));
        dlopen("./libspeaker.so", RTLD_NOW | RTLD_LOCAL);
        SAY("%zu", beehive_entries(list, &many));
        SAY("%zu", beehive_entries(list, &one));
        SAY("%zu", beehive_entries(NULL, NULL));
        SAY("%s", BEEHIVE_SERVICE_TABLE(Speaker, struct speaker)->say());
        TRY(beehive_unregister_service("Speaker"));
        TRY(beehive_unregister_service("Speaker"));
        SAY("%d", BEEHIVE_SERVICE_TABLE(Speaker, struct speaker) != NULL);
        TRY(beehive_register_service("", "Mine", &speaker));
        TRY(beehive_register_module("none", NULL));
      }
      """, in: workshop)
    let refused =
      "2 service Speaker, Table, libspeaker.so BeehiveRecords[0]: host.c:11 already provides it; "
      + "give one of them BEEHIVE_NAME or BEEHIVE_PRIORITY"
    #expect(
      said == [
        #"beehive_register_service("Speaker", "Mine", &speaker): yes"#,
        "0 service Speaker, Mine, host.c:11: -",
        "1 module Shop.Vanished, -, libspeaker.so BeehiveMods[0]: no type of this name yet; bind it "
          + "or link its module",
        refused, "3", "0 service Speaker, Mine, host.c:11: -", "1", "0", "from the host",
        #"beehive_unregister_service("Speaker"): yes"#,
        #"beehive_unregister_service("Speaker"): service Speaker: nothing of this name is registered"#,
        "0",
        #"beehive_register_service("", "Mine", &speaker): a service needs a name and a table that "#
          + "is not empty",
        #"beehive_register_module("none", NULL): a module needs a name and operations"#,
      ])
  }

  @Test("A module that fails is named, and nothing runs")
  func failure() throws {
    let said = try host(
      """
      NAMED(good);
      static bool refuse(const beehive_context *c) { (void)c; return false; }
      static const beehive_module_operations bad = { .initialize = refuse };
      int main(void) {
        alarm(120);
        TRY(beehive_register_module("good", &good));
        TRY(beehive_register_module("bad", &bad));
        TRY(beehive_start());
        TRY(beehive_unregister_module("bad"));
        TRY(beehive_start());
        TRY(beehive_stop());
      }
      """, in: Workshop())
    #expect(
      said.dropFirst(2) == [
        "good set_up", "good unmount",
        "beehive_start(): module bad (host.c:7) initialize: answered false",
        #"beehive_unregister_module("bad"): yes"#, "good set_up", "beehive_start(): yes",
        "good unmount", "beehive_stop(): yes",
      ])
  }

  @Test("A module may use the runtime from inside a step or an event, also on one processor")
  func fromInside() throws {
    let said = try host(
      """
      NAMED(late); NAMED(later);
      static bool set_up(const beehive_context *c) {
        (void)c;
        TRY(beehive_start());
        TRY(beehive_register_module("late", &late));
        return true;
      }
      static bool event(const beehive_context *c, const beehive_event *e) {
        (void)c;
        SAY("eager %s", e->name);
        if (e->number == 1000) {
          TRY(beehive_trigger(1001, "inner", NULL, 0));
          TRY(beehive_register_module("later", &later));
        }
        if (e->number == 1002) TRY(beehive_stop());
        return true;
      }
      static const beehive_module_operations eager = { .set_up = set_up, .event = event };
      int main(void) {
        alarm(120);
        TRY(beehive_register_module("eager", &eager));
        TRY(beehive_start());
        TRY(beehive_trigger(1000, "outer", NULL, 0));
        TRY(beehive_trigger(1002, "end", NULL, 0));
        SAY("nobody: %d", beehive_trigger(1003, "late", NULL, 0));
      }
      """, in: Workshop())
    #expect(
      said.dropFirst() == [
        "beehive_start(): start was called by a module that is being started or stopped",
        #"beehive_register_module("late", &late): yes"#, "late set_up", "beehive_start(): yes",
        "eager outer", "eager inner", "late 1001 inner ",
        #"beehive_trigger(1001, "inner", NULL, 0): yes"#, "later set_up",
        #"beehive_register_module("later", &later): yes"#, "late 1000 outer ",
        #"beehive_trigger(1000, "outer", NULL, 0): yes"#, "eager end", "later unmount",
        "late unmount", "beehive_stop(): yes", #"beehive_trigger(1002, "end", NULL, 0): yes"#,
        "nobody: 0",
      ])
  }

  @Test("Each thread has an error of its own")
  func errors() throws {
    let said = try host(
      """
      static void *other(void *unused) {
        (void)unused;
        SAY("other '%s'", beehive_last_error());
        beehive_service("Other", 1);
        SAY("other '%.14s'", beehive_last_error());
        return NULL;
      }
      int main(void) {
        alarm(120);
        SAY("'%s'", beehive_last_error());
        beehive_service("Mine", 1);
        pthread_t thread;
        pthread_create(&thread, NULL, other, NULL);
        pthread_join(thread, NULL);
        SAY("'%.13s'", beehive_last_error());
      }
      """, in: Workshop())
    #expect(said == ["''", "other ''", "other 'service Other:'", "'service Mine:'"])
  }

  @Test("BEEHIVE_DISABLE in the environment switches a module off by its name")
  func disabled() throws {
    let workshop = try Workshop()
    let said = try host(
      """
      #include <stdlib.h>
      NAMED(one); NAMED(two);
      static bool list(const beehive_entry *e, void *unused) {
        (void)unused;
        SAY("%u %s: %s", e->state, e->name, e->reason ? e->reason : "-");
        return true;
      }
      int main(void) {
        alarm(120);
        setenv("BEEHIVE_DISABLE", "two, three", 1);
        beehive_register_module("one", &one);
        beehive_register_module("two", &two);
        TRY(beehive_start());
        beehive_entries(list, NULL);
        TRY(beehive_stop());
      }
      """, in: workshop)
    #expect(
      said == [
        "one set_up", "beehive_start(): yes", "0 one: -",
        "3 two: switched off by BEEHIVE_DISABLE or the options of the start", "one unmount",
        "beehive_stop(): yes",
      ])
  }
}
