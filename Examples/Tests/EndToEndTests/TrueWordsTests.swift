import Foundation
import Testing

/// The messages to hosts in C about things that have no effect.
@Suite struct TrueWordsTests {
  /// Compiles a host that links libBeeHive.so, runs it, and returns its outcome.
  private func host(_ text: String, in workshop: Workshop) throws -> Outcome {
    let source = try workshop.source(
      "host",
      """
      #define _GNU_SOURCE
      #include <beehive/runtime.h>
      #include <contract.h>
      #include <dlfcn.h>
      #include <stdio.h>
      #include <string.h>
      #include <sys/wait.h>
      #include <unistd.h>
      #define SAY(...) (printf(__VA_ARGS__), putchar('\\n'), fflush(stdout))
      static bool did;
      #line 1 "host.c"
      \(text)
      """)
    let path = workshop.folder.place("host").path
    let library = Repository.products.path
    try workshop.output(
      Compiler.program,
      ["-std=c11", "-Wall", "-Wextra", "-Wno-unused", "-Werror", "-pthread", "-o", path]
        + Workshop.headers
        + [source, "-L", library, "-lBeeHive", "-Wl,-rpath," + library, "-ldl"])
    return try Command.run(path, in: workshop.folder.url, limit: 300)
  }

  @Test("A host that closes libBeeHive.so and opens it again finds it as it was")
  func reopened() throws {
    let workshop = try Workshop()
    let source = try workshop.source(
      "host",
      """
      #include <dlfcn.h>
      #include <stdio.h>
      int main(int count, char **texts) {
        for (int round = 0; round < 3; round++) {
          void *library = dlopen(texts[count - 1], RTLD_NOW);
          const void *(*service)(const char *, unsigned long) =
              (const void *(*)(const char *, unsigned long))dlsym(library, "beehive_service");
          puts(service("missing", 8) ? "some" : "none");
          dlclose(library);
        }
      }
      """)
    let path = workshop.folder.place("host").path
    try workshop.output(Compiler.program, ["-o", path, source, "-ldl"])
    let outcome = try Command.run(
      path, [Program.product("BeeHive")], in: workshop.folder.url, limit: 300)
    #expect(outcome.lines == ["none", "none", "none"], "\(outcome)")
  }

  private static let module = """
    static bool no(const beehive_context *c, const beehive_event *e) { (void)c; (void)e; return false; }
    static const beehive_module_operations shop = { .event = no };

    """

  @Test("beehive_trigger that has no effect says why") func trigger() throws {
    let outcome = try host(
      Self.module + """
        int main(void) {
          did = beehive_trigger(1000, "sold", NULL, 0);
          SAY("%d %s", did, beehive_last_error());
          beehive_register_module("shop", &shop);
          beehive_start();
          did = beehive_trigger(1001, "sold", NULL, 0);
          SAY("%d %s", did, beehive_last_error());
          return !beehive_stop();
        }
        """, in: Workshop())
    #expect(
      outcome.lines == [
        "0 event 1000 sold: no module has handled it; told: none, so start the Hive first",
        "0 event 1001 sold: no module has handled it; told: shop",
      ])
    #expect(outcome.status == 0)
  }

  @Test("A service of C whose scope is unknown is told so, and so is a name that is not there")
  func scope() throws {
    let workshop = try Workshop()
    try workshop.library(
      "speaker", Source.speaker("Speaker", says: "hello", #"BEEHIVE_SCOPE("session")"#))
    let outcome = try host(
      """
      int main(void) {
        dlopen("./libspeaker.so", RTLD_NOW | RTLD_LOCAL);
        beehive_service("Speaker", 0);
        SAY("%s", beehive_last_error());
        beehive_service("Speakers", 0);
        SAY("%s", beehive_last_error());
      }
      """, in: workshop)
    #expect(
      outcome.lines == [
        "service Speaker: libspeaker.so BeehiveRecords[0]: rejected, since the attribute \"scope=session\" "
          + "has an unknown value; write transient, singleton, weak, scoped",
        "service Speakers: no C library that is loaded provides it; link or dlopen the one that does; "
          + "did you mean Speaker?",
      ])
  }

  @Test("Duplicates of C are told what C can do") func duplicates() throws {
    let workshop = try Workshop()
    for name in ["one", "two"] { try workshop.library(name, Source.speaker()) }
    let outcome = try host(
      """
      static const struct speaker speaker;
      static bool list(const beehive_entry *e, void *c) {
        (void)c;
        if (e->reason) SAY("%s: %s", e->source, e->reason);
        return true;
      }
      int main(void) {
        dlopen("./libone.so", RTLD_NOW | RTLD_LOCAL);
        dlopen("./libtwo.so", RTLD_NOW | RTLD_LOCAL);
        beehive_entries(list, NULL);
        beehive_register_service("Mine", "A", &speaker);
        beehive_register_service("Mine", "B", &speaker);
        SAY("%s", beehive_last_error());
      }
      """, in: workshop)
    #expect(
      outcome.lines == [
        "libtwo.so BeehiveRecords[0]: libone.so BeehiveRecords[0] already provides it; give one of "
          + "them BEEHIVE_NAME or BEEHIVE_PRIORITY",
        "host.c:11 already provides it; unregister the first one before you register another",
      ])
  }

  /// `dl_iterate_phdr` shows only its caller's namespace.
  @Test("A library in a namespace of its own is not seen: Docs/beehive.md says so")
  func namespace() throws {
    let workshop = try Workshop()
    try workshop.library("speaker", Source.speaker())
    let outcome = try host(
      """
      int main(void) {
        void *apart = dlmopen(LM_ID_NEWLM, "./libspeaker.so", RTLD_NOW | RTLD_LOCAL);
        SAY("%d %zu", apart != NULL, beehive_entries(NULL, NULL));
        did = beehive_service("Speaker", 0) != NULL;
        SAY("%d %s", did, beehive_last_error());
        dlopen("./libspeaker.so", RTLD_NOW | RTLD_LOCAL);
        SAY("%d", beehive_service("Speaker", 0) != NULL);
      }
      """, in: workshop)
    #expect(
      outcome.lines == [
        "1 0",
        "0 service Speaker: no C library that is loaded provides it; link or dlopen the one that does",
        "1",
      ])
    let documents = try String(contentsOf: Repository.place("Docs/beehive.md"), encoding: .utf8)
    #expect(documents.contains("`dlmopen`"))
  }

  @Test("A forked child is refused what needs the parent's threads, and may exec") func forked()
    throws
  {
    let outcome = try host(
      Self.module + """
        int main(void) {
          int status = 0;
          beehive_register_module("shop", &shop);
          beehive_start();
          if (fork() == 0) {
            did = beehive_trigger(1001, "sold", NULL, 0);
            SAY("%d %s", did, beehive_last_error());
            _exit(3);
          }
          wait(&status);
          SAY("%d", WEXITSTATUS(status));
          if (fork() == 0) execlp("echo", "echo", "a program of its own", (char *)NULL);
          wait(&status);
          SAY("%d", WEXITSTATUS(status));
          return !beehive_stop();
        }
        """, in: Workshop())
    #expect(
      outcome.lines == [
        "0 this process was forked once a Hive had run, and has none of its threads; call exec or _exit "
          + "after fork, or fork before anything is started",
        "3", "a program of its own", "0",
      ])
    #expect(outcome.errors.isEmpty)
    #expect(outcome.status == 0)
  }
}
