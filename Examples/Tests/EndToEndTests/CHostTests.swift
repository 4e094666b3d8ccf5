import Foundation
import Testing

/// A start as a host in C reports it, and as the host's modules and factories see it.
@Suite struct CHostTests {
  private static let library = """
    #include <BeeHive.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <unistd.h>
    #include "contract.h"
    static const char *say(void) { return "plain"; }
    static const char *say_twice(void) { return "named"; }
    static const struct speaker plain = { say }, named = { say_twice };
    BEEHIVE_SERVICE(Speaker, Plain, &plain);
    BEEHIVE_SERVICE(Speaker, Named, &named, BEEHIVE_NAME("twice"));

    static void *create(const beehive_context *context) {
      printf("made in %s with %s\\n", context->environment,
             context->custom ? (const char *)context->custom : "nothing");
      return malloc(1);
    }
    static void destroy(void *made) { printf("destroyed\\n"); free(made); }
    BEEHIVE_SERVICE_FACTORY(Voice, Made, create, destroy);

    static bool set_up(const beehive_context *context) {
      printf("set up in %s for %zu, last %s, with %s\\n", context->environment, context->argument_count,
             context->arguments[context->argument_count - 1],
             context->custom ? (const char *)context->custom : "nothing");
      const struct speaker *twice =
          beehive_context_service(context, "Speaker", "twice", sizeof(struct speaker));
      printf("a module asks: %s\\n", twice ? twice->say() : "nothing");
      const void *voice = beehive_context_service(context, "Voice", NULL, 1);
      printf("a module gives back: %d\\n", beehive_context_destroy(context, "Voice", NULL, voice));
      beehive_context older = *context;
      older.size = offsetof(beehive_context, service);
      printf("an older host: %d %d\\n",
             beehive_context_service(&older, "Speaker", NULL, 0) != NULL,
             beehive_context_destroy(&older, "Voice", NULL, voice));
      return true;
    }
    static void tear_down(const beehive_context *context) {
      printf("torn down in %s\\n", context->environment);
    }
    static const beehive_module_operations main_operations = { .set_up = set_up, .tear_down = tear_down };
    BEEHIVE_MODULE(main, &main_operations);

    static bool refuse(const beehive_context *context) { (void)context; return false; }
    static const beehive_module_operations bad_operations = { .set_up = refuse };
    BEEHIVE_MODULE(bad, &bad_operations);

    static bool sleep_long(const beehive_context *context) { (void)context; sleep(600); return true; }
    static const beehive_module_operations slow_operations = { .initialize = sleep_long };
    BEEHIVE_MODULE(slow, &slow_operations);
    """

  private static func run(_ main: String) throws -> [String] {
    let workshop = try Workshop()
    try workshop.library("offers", library)
    let host = try workshop.hostInC(
      Workshop.prologueInC + """
        static void open_library(void) {
          setvbuf(stdout, NULL, _IONBF, 0);
          alarm(1200);
          if (!dlopen("./liboffers.so", RTLD_NOW | RTLD_LOCAL)) SAY("%s", dlerror());
        }
        static const char *said(const struct speaker *speaker) {
          return speaker ? speaker->say() : beehive_last_error();
        }
        #line 1 "host.c"

        """ + main)
    return try workshop.output(host, []).split(separator: "\n").map(String.init)
  }

  @Test("Options of a start: environment, arguments, what is agreed upon, disabled modules")
  func options() throws {
    let said = try Self.run(
      """
      int main(void) {
        open_library();
        beehive_options options = BEEHIVE_OPTIONS;
        const char *arguments[] = {"host", "tea"}, *disabled[] = {"bad", "slow"};
        options.environment = "stage";
        options.arguments = arguments, options.argument_count = 2;
        options.custom = "a key";
        options.disabled = disabled, options.disabled_count = 2;
        TRY(beehive_start_with(&options));
        const void *voice = beehive_service("Voice", 1);
        TRY(beehive_destroy("Voice", NULL, voice));
        TRY(beehive_destroy("Speaker", NULL, voice));
        TRY(beehive_stop());
      }
      """)
    #expect(
      said == [
        "set up in stage for 2, last tea, with a key", "a module asks: named",
        "made in stage with a key", "destroyed", "a module gives back: 1", "an older host: 0 0",
        "beehive_start_with(&options): yes", "made in stage with a key", "destroyed",
        #"beehive_destroy("Voice", NULL, voice): yes"#,
        #"beehive_destroy("Speaker", NULL, voice): service Speaker: no factory of this name "#
          + "has made it, or it is kept until its scope or the Hive ends",
        "torn down in stage", "beehive_stop(): yes",
      ])
  }

  @Test("A service is looked up by the name that tells it from another implementation")
  func names() throws {
    let said = try Self.run(
      """
      int main(void) {
        open_library();
        SAY("%s", said(beehive_service_named("Speaker", "twice", sizeof(struct speaker))));
        SAY("%s", said(beehive_service_named("Speaker", NULL, sizeof(struct speaker))));
        SAY("%s", said(beehive_service("Speaker", sizeof(struct speaker))));
        SAY("%.28s", said(beehive_service_named("Speaker", "thrice", sizeof(struct speaker))));
      }
      """)
    #expect(said == ["named", "plain", "plain", "service Speaker named thrice"])
  }

  @Test("A module that fails, and one that takes too long, are left out where the options say so")
  func failures() throws {
    let said = try Self.run(
      """
      int main(void) {
        open_library();
        beehive_options options = BEEHIVE_OPTIONS;
        const char *slow = "slow";
        options.disabled = &slow, options.disabled_count = 1;
        TRY(beehive_start_with(&options));
        options.disabled_count = 0;
        options.on_failure = BEEHIVE_ON_FAILURE_SKIP;
        options.time_limit = 0.3;
        TRY(beehive_start_with(&options));
        TRY(beehive_stop());
        options.on_failure = 7;
        TRY(beehive_start_with(&options));
        options = (beehive_options)BEEHIVE_OPTIONS;
        options.time_limit = -1;
        TRY(beehive_start_with(&options));
        options.version = 9;
        TRY(beehive_start_with(&options));
        options = (beehive_options)BEEHIVE_OPTIONS;
        options.argument_count = 5;
        TRY(beehive_start_with(&options));
        options.argument_count = 0, options.flags = 3;
        TRY(beehive_start_with(&options));
      }
      """)
    #expect(
      said.suffix(8) == [
        "beehive_start_with(&options): yes", "torn down in production", "beehive_stop(): yes",
        "beehive_start_with(&options): on_failure is 7; write one of BEEHIVE_ON_FAILURE_…",
        "beehive_start_with(&options): time_limit is -1.0; write seconds, or 0",
        "beehive_start_with(&options): options of version 9 and 80 bytes are unknown here; begin "
          + "with BEEHIVE_OPTIONS",
        "beehive_start_with(&options): 5 arguments cannot be; correct the pointer or the count",
        "beehive_start_with(&options): flags are 3; write 0",
      ])
    #expect(
      said.contains {
        $0.hasPrefix("beehive_start_with(&options): module bad (liboffers.so BeehiveRecords[")
          && $0.hasSuffix("]) setUp: answered false")
      }, "\(said)")
  }

  @Test("run: waits for SIGTERM, tears down, and says whether all went well")
  func run() throws {
    let said = try Self.run(
      """
      #include <signal.h>
      static bool end(const beehive_context *c) { (void)c; kill(getpid(), SIGTERM); return true; }
      static const beehive_module_operations ender = { .splash = end };
      int main(void) {
        open_library();
        beehive_options options = BEEHIVE_OPTIONS;
        const char *disabled[] = {"bad", "slow"};
        options.disabled = disabled, options.disabled_count = 2;
        TRY(beehive_register_module("ender", &ender));
        TRY(beehive_run(&options));
        SAY("end");
      }
      """)
    #expect(
      said.suffix(3) == ["torn down in production", "beehive_run(&options): yes", "end"], "\(said)")
  }

  @Test("run: a module that never came back from its start is named, and the run did not go well")
  func runThatHangs() throws {
    let said = try Self.run(
      """
      #include <signal.h>
      static void *end(void *unused) { usleep(500000); kill(getpid(), SIGTERM); return unused; }
      int main(void) {
        open_library();
        beehive_options options = BEEHIVE_OPTIONS;
        const char *bad = "bad";
        options.disabled = &bad, options.disabled_count = 1;
        options.on_failure = BEEHIVE_ON_FAILURE_CONTINUE;
        options.time_limit = 0.1, options.tear_down_limit = 1e300;
        pthread_t thread;
        pthread_create(&thread, NULL, end, NULL);
        TRY(beehive_run(&options));
      }
      """)
    #expect(said.last?.hasPrefix("beehive_run(&options): module slow") == true, "\(said)")
  }

  @Test(
    "What a module lacks, and what failed in it, is the reason of its entry once a start came to it"
  )
  func reasons() throws {
    let workshop = try Workshop()
    try workshop.library(
      "lacks",
      """
      #include <BeeHive.h>
      static bool refuse(const beehive_context *c) { return c == 0; }
      static const beehive_module_operations bad = { .set_up = refuse };
      BEEHIVE_MODULE(bad, &bad);
      BEEHIVE_MODULE(lacking, &bad, BEEHIVE_REQUIRES("nowhere"));
      """)
    let host = try workshop.hostInC(
      Workshop.prologueInC + """
        static bool show(const beehive_entry *e, void *unused) {
          (void)unused;
          SAY("%u %s: %s", e->state, e->name, e->reason ? e->reason : "nothing is wrong");
          return true;
        }
        static bool remark(const char *remark, void *unused) { (void)unused; SAY("%s", remark); return true; }
        int main(void) {
          setvbuf(stdout, NULL, _IONBF, 0);
          alarm(1200);
          if (!dlopen("./liblacks.so", RTLD_NOW | RTLD_LOCAL)) SAY("%s", dlerror());
          beehive_entries(show, NULL);
          SAY("%zu", beehive_remarks(remark, NULL));
          beehive_options options = BEEHIVE_OPTIONS;
          options.on_failure = BEEHIVE_ON_FAILURE_CONTINUE;
          TRY(beehive_start_with(&options));
          beehive_entries(show, NULL);
          SAY("%zu", beehive_remarks(remark, NULL));
        }
        """)
    let lack =
      "requires nowhere, which nothing in this process declares; load what declares it, or say after instead "
      + "of requires"
    #expect(
      try workshop.output(host, []).split(separator: "\n").map(String.init) == [
        "0 bad: nothing is wrong", "0 lacking: nothing is wrong",
        "module lacking (liblacks.so BeehiveRecords[1]) \(lack)", "1",
        "beehive_start_with(&options): yes",
        "0 bad: setUp: answered false; it counts as started all the same", "0 lacking: \(lack)",
        "0",
      ])
  }

  @Test("Remarks name what is switched off in vain; latecomers are started when the host says so")
  func remarks() throws {
    let said = try Self.run(
      """
      static bool show(const char *remark, void *context) { (void)context; SAY("%s", remark); return true; }
      int main(void) {
        setenv("BEEHIVE_DISABLE", "slow,bad,mian", 1);
        TRY(beehive_start());
        SAY("%zu", beehive_remarks(show, NULL));
        open_library();
        TRY(beehive_start_latecomers());
        SAY("%zu", beehive_remarks(show, NULL));
        SAY("%d", beehive_unregister_service("a\\033[2Jb")), SAY("%s", beehive_last_error());
        TRY(beehive_stop());
      }
      """)
    #expect(said[0] == "beehive_start(): yes")
    #expect(said.contains("beehive_start_latecomers(): yes"))
    #expect(said.contains { $0.hasPrefix("set up in production") })
    #expect(
      said.suffix(6).prefix(2) == [
        "mian is switched off, but no module is called that; did you mean main?", "1",
      ])
    #expect(!said.joined().contains("\u{1b}"))
  }
}
