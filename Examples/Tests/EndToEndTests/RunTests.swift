import Foundation
import Testing

/// A process that does nothing but `hive.run()`, and signals from outside. A host that hangs is ended by its alarm, and
/// that is a failure.
@Suite struct RunTests {
  /// Starts the host, waits until its module runs, runs `script` with `$pid`, and returns the host's output. In
  /// `script`, `line TEXT` waits for a line and `state X` for the state of the process. The threads that run tests
  /// block signals and a child inherits that, so `before` restores them as in a shell.
  private func host(
    _ steps: String, in workshop: Workshop, before: String = "env --default-signal",
    _ script: String
  ) throws -> [String] {
    let text = """
      \(before) "$1" \(steps) > said & pid=$!
      wait_for() {
        for i in $(seq 15000); do
          if "$@"; then return; elif [[ ! -e /proc/$pid ]]; then break; else sleep 0.02; fi
        done
        kill -9 $pid
      }
      line() { wait_for grep -qx "$1" said; }
      state() { wait_for grep -q "State:.$1" /proc/$pid/status; }
      line "narrator splash"
      \(script)
      wait $pid
      echo "status $?" >> said
      cat said
      """
    let path = Repository.products.appendingPathComponent("SwiftHost").path
    return try workshop.output("bash", ["-c", text, "bash", path]).split(separator: "\n")
      .map(String.init)
  }

  private static let end = [
    "narrator willTerminate", "narrator tearDown", "narrator unmount",
  ]

  @Test("SIGTERM: willTerminate, tearDown, unmount, and the process ends by itself")
  func terminated() throws {
    let said = try host("run=TERM,INT", in: Workshop(), "kill -TERM $pid")
    #expect(
      said == ["narrator setUp", "narrator splash"] + Self.end + [
        "ended by signal(SIGTERM), complete: true", "status 0",
      ])
  }

  @Test("SIGTSTP and SIGCONT: the four events of BeeHive around a real stop")
  func suspended() throws {
    let said = try host(
      "run=TERM,TSTP,CONT", in: Workshop(),
      """
      kill -TSTP $pid; state T; kill -CONT $pid; line "narrator didBecomeActive"; kill -TERM $pid
      """)
    #expect(
      said.dropFirst(2) == [
        "narrator willResignActive", "narrator didEnterBackground", "narrator willEnterForeground",
        "narrator didBecomeActive",
      ] + Self.end + ["ended by signal(SIGTERM), complete: true", "status 0"][...])
  }

  @Test("A signal that whoever started the process had blocked still ends it")
  func blocked() throws {
    let said = try host(
      "run=TERM", in: Workshop(), before: "env --block-signal=TERM", "kill -TERM $pid")
    #expect(said.suffix(2) == ["ended by signal(SIGTERM), complete: true", "status 0"])
  }

  @Test("Signals that nobody asked for do what they always do")
  func unobserved() throws {
    let said = try host("run=", in: Workshop(), "kill -TERM $pid")
    #expect(said == ["narrator setUp", "narrator splash", "status 143"])
  }

  @Test("C modules that are marked async are initialised beside each other, and awaited")
  func asyncModules() throws {
    let workshop = try Workshop()
    // Each waits for the other to be in its own initialize.
    try workshop.library(
      "pair",
      """
      #define _GNU_SOURCE
      #include <BeeHive.h>
      #include <stdatomic.h>
      #include <unistd.h>
      static atomic_int arrived;
      static bool meet(const beehive_context *context) {
        (void)context;
        arrived++;
        for (int i = 0; i < 60000 && arrived < 2; i++) usleep(5000);
        return arrived == 2;
      }
      static const beehive_module_operations operations = { .initialize = meet };
      BEEHIVE_MODULE(one, &operations, BEEHIVE_ASYNC);
      BEEHIVE_MODULE(two, &operations, BEEHIVE_PRIORITY(3) BEEHIVE_ASYNC);
      """)
    let said = try host("open=./libpair.so run=TERM", in: workshop, "kill -TERM $pid")
    #expect(said.prefix(2) == ["narrator setUp", "narrator splash"], "\(said)")
  }

  @Test("C modules of an opened library live in one order with the host's, until the signal")
  func cModules() throws {
    let workshop = try Workshop()
    try workshop.library(
      "audio",
      """
      #include <BeeHive.h>
      #include <stdio.h>
      #define STEP(module, step) \\
        static bool module##_##step(const beehive_context *context) { \\
          (void)context; puts(#module " " #step); fflush(NULL); return true; }
      #define LAST(module, step) \\
        static void module##_##step(const beehive_context *context) { \\
          (void)context; puts(#module " " #step); fflush(NULL); }
      STEP(audio, set_up) LAST(audio, unmount) STEP(log, set_up) LAST(log, unmount)
      static bool event(const beehive_context *context, const beehive_event *event) {
        (void)context; printf("audio %lld\\n", (long long)event->number); fflush(NULL); return true; }
      static const beehive_module_operations audio =
        { .set_up = audio_set_up, .event = event, .unmount = audio_unmount };
      static const beehive_module_operations log_operations =
        { .set_up = log_set_up, .unmount = log_unmount };
      BEEHIVE_MODULE(audio, &audio, BEEHIVE_LEVEL("basic") BEEHIVE_REQUIRES("log"));
      BEEHIVE_MODULE(log, &log_operations);
      """)
    let said = try host("open=./libaudio.so run=TERM", in: workshop, "kill -TERM $pid")
    #expect(
      said.filter { !$0.hasPrefix("ended") } == [
        "log set_up", "audio set_up", "narrator setUp", "narrator splash", "audio 9",
        "narrator willTerminate", "narrator tearDown", "narrator unmount", "audio unmount",
        "log unmount", "status 0",
      ])
  }
}
