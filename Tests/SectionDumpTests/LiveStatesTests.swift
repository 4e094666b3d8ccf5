import Foundation
import TestSupport
import Testing

@Suite("What a running process made of its entries", .serialized, .opensLibrary)
struct LiveStatesTests {
  /// Does what it is told with the real libBeeHive.so, says "ready", and waits.
  static let host = Result {
    try Fixtures.build(
      """
      #define _GNU_SOURCE
      #include <beehive/runtime.h>
      #include <dlfcn.h>
      #include <link.h>
      #include <sys/prctl.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <unistd.h>
      static void *library, *hive;
      static bool visit(const beehive_entry *entry, void *context) {
        static const char *const words[] = {"bound", "accepted", "rejected", "disabled"};
        printf("%s\\t%s\\t%s\\n", entry->source, words[entry->state],
               entry->reason ? entry->reason : "");
        return true;
      }
      // The note's descriptor: version, header, record, each a distance from its own place.
      static int search(struct dl_phdr_info *image, size_t size, void *found) {
        for (int i = 0; i < image->dlpi_phnum; i++) {
          if (image->dlpi_phdr[i].p_type != PT_NOTE) { continue; }
          char *start = (char *)image->dlpi_addr + image->dlpi_phdr[i].p_vaddr;
          for (char *at = start; at + 32 <= start + image->dlpi_phdr[i].p_memsz; at += 4) {
            if (((int *)at)[2] == 0x42454503 && !memcmp(at + 12, "Beehive", 8)) {
              *(char **)found = at + 28 + ((int *)at)[7];
            }
          }
        }
        return 0;
      }
      static unsigned *record(void) {
        unsigned *found = 0;
        dl_iterate_phdr(search, &found);
        return found;
      }
      static void service(const char *name) {
        const void *(*get)(const char *, size_t) = dlsym(hive, "beehive_service");
        get(name, 1);
      }
      static void step(char *step) {
        char *value = strchr(step, '=');
        if (value) { *value++ = 0; }
        if (!strcmp(step, "open") && !(library = dlopen(value, RTLD_NOW))) { puts(dlerror()); }
        if (!strcmp(step, "hive") && !(hive = dlopen(value, RTLD_NOW))) { puts(dlerror()); }
        if (!strcmp(step, "close")) { dlclose(library); }
        if (!strcmp(step, "service")) { service(value); }
        if (!strcmp(step, "entries")) {
          size_t (*entries)(bool (*)(const beehive_entry *, void *), void *) =
              dlsym(hive, "beehive_entries");
          entries(visit, 0);
        }
        if (!strcmp(step, "start") || !strcmp(step, "continue")) {
          beehive_options options = BEEHIVE_OPTIONS;
          options.on_failure =
              *step == 's' ? BEEHIVE_ON_FAILURE_SKIP : BEEHIVE_ON_FAILURE_CONTINUE;
          options.disabled = (const char *const *)&value;
          options.disabled_count = 1;
          bool (*start)(const beehive_options *) = dlsym(hive, "beehive_start_with");
          if (!start(&options)) { puts("it did not start"); }
        }
        if (!strcmp(step, "latecomers") || !strcmp(step, "stop")) {
          bool (*call)(void) = dlsym(
              hive, *step == 's' ? "beehive_stop" : "beehive_start_latecomers");
          call();
        }
        if (!strcmp(step, "remove")) {
          bool (*remove)(const char *) = dlsym(hive, "beehive_unregister_service");
          remove(value);
        }
        if (!strcmp(step, "word")) {
          record()[atoi(value)] = strtoul(strchr(value, ':') + 1, 0, 0);
        }
        if (!strcmp(step, "noise")) {
          unsigned seed = atoi(value), *head = record();
          unsigned char *cells = (unsigned char *)*(unsigned long *)(head + 6);
          for (int hit = 0; hit < 6; hit++) {
            unsigned char *place = seed % 2 ? cells : (unsigned char *)(head + 3);
            place[rand_r(&seed) % (place == cells ? head[5] * 32 : 20)] = rand_r(&seed);
          }
        }
        if (!strcmp(step, "reopen")) {
          for (int i = 0; i < 100; i++) {
            void *handle = dlopen(value, RTLD_NOW);
            service("Shop.HomeService");
            dlclose(handle);
            service("Nobody");
          }
          printf("%u cells\\n", record()[5]);
        }
        if (!strcmp(step, "churn")) {
          puts("ready");
          for (;;) {
            void *handle = dlopen(value, RTLD_NOW);
            service("Greeter.Other");
            service("Shop.HomeService");
            dlclose(handle);
            service("Nobody");
          }
        }
      }
      int main(int count, char **steps) {
        setvbuf(stdout, 0, _IOLBF, 0);
        alarm(3000);
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); // or only its parent may look at it
        for (int i = 1; i < count; i++) { step(steps[i]); }
        puts("ready");
        sleep(3000);
      }
      """, as: "live-states-host", ["-O1", "-ldl"])
  }

  static let hive =
    "hive=" + Repository.products.appendingPathComponent("libBeeHive.so").path

  /// Two libraries that declare the same; of the second, everything is a duplicate.
  private static let libraries = Result {
    try ["live-first.so", "live-second.so"].map { try Fixtures.annotatedLibrary($0) }
  }

  static func opened() throws -> [String] {
    try libraries.get().map { "open=./\($0)" }
  }

  /// What `live` says of an entry, or the Hive of the process itself.
  private struct State: Hashable, CustomStringConvertible {
    var place: String
    var state: String?
    var reason: String?
    var description: String { "\(place): \(state ?? "–") (\(reason ?? "–"))" }
  }

  /// Runs the host while `body` looks at it; what the host printed before it was ready.
  static func withHost(
    _ steps: [String], _ body: (_ pid: Int32, _ printed: [String]) throws -> Void
  ) throws {
    let host = Fixtures.place(try host.get()).path
    try Command.whileRunning(host, steps, in: Fixtures.directory, body)
  }

  /// What `live` says of the entries of a process.
  private func states(of pid: Int32, status: Int32 = 0) throws -> Set<State> {
    let outcome = try Tool.live(pid)
    #expect(outcome.status == status, "\(outcome.errors)")
    return try states(outcome)
  }

  /// What a JSON run has said of them.
  private func states(_ outcome: Outcome) throws -> Set<State> {
    let files = try Tool.files(of: outcome)
    var states: Set<State> = []
    for file in files {
      let name = (file["path"] as? String ?? "").split(separator: "/").last ?? ""
      for record in try #require(file["records"] as? [[String: Any]]) {
        for key in ["state", "code", "reason"] { #expect(record[key] != nil) }
        #expect((record["reason"] is String) || !(record["code"] is String))
        states.insert(
          State(
            place: "\(name) \(record["section"] ?? "")[\(record["index"] ?? "")]",
            state: record["state"] as? String, reason: record["reason"] as? String))
      }
    }
    return states
  }

  /// How many entries are in which state.
  private func tally(_ states: Set<State>) -> [String?: Int] {
    Dictionary(states.map { ($0.state, 1) }, uniquingKeysWith: +)
  }

  @Test("It is what the Hive itself reports: bound, accepted and rejected, with the same reasons")
  func sameAsReport() throws {
    try Self.withHost([Self.hive] + Self.opened() + ["entries"]) { pid, printed in
      let reported = printed.map { line in
        let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
        return State(place: parts[0], state: parts[1], reason: parts[2].isEmpty ? nil : parts[2])
      }
      #expect(reported.count == 8)
      let states = try states(of: pid)
      #expect(states == Set(reported))
      #expect(tally(states) == ["bound": 2, "accepted": 2, "rejected": 4])
      let table = try Tool.run(["live", "--pid", "\(pid)"]).output
      #expect(table.contains("STATE     KIND"))
      #expect(
        table.contains("accepted ") && table.contains("bound ") && table.contains("rejected "))
      #expect(table.contains("already provides it"))
      let csv = try Tool.run(["live", "--pid", "\(pid)", "--format", "csv"]).output
      #expect(csv.contains(",accessor,state,code,reason\n"))
      #expect(csv.contains(",rejected,duplicate,"))
    }
  }

  @Test("Entries of types that were not asked for yet are accepted, and that is said")
  func unmade() throws {
    let steps = [Self.hive, try Self.opened()[0], "service=Nobody"]
    let reasons = ["no start has come to it yet", "it was not asked for yet"]
    try Self.withHost(steps) { pid, _ in
      let states = try states(of: pid)
      // What C declares says itself what makes it.
      #expect(tally(states) == ["accepted": 2, "bound": 2])
      #expect(Set(states.compactMap(\.reason)) == Set(reasons))
    }
    try Self.withHost(steps + ["service=Shop.HomeService"]) { pid, _ in
      let states = try states(of: pid)
      #expect(tally(states) == ["accepted": 2, "bound": 2])
      #expect(!states.contains { $0.reason == reasons[1] })
    }
  }

  @Test(
    "Without a Hive that is used there is no state",
    arguments: [[], [hive]])
  func none(steps: [String]) throws {
    try Self.withHost(steps + [try Self.opened()[0]]) { pid, _ in
      let states = try states(of: pid)
      #expect(tally(states) == [nil: 4])
      let table = try Tool.run(["live", "--pid", "\(pid)"]).output
      #expect(!table.contains("STATE"))
    }
  }

  @Test("What was loaded since the Hive last looked has no state")
  func later() throws {
    let opened = try Self.opened()
    try Self.withHost([Self.hive, opened[0], "service=Nobody", opened[1]]) { pid, _ in
      let states = try states(of: pid)
      #expect(states.filter { $0.state == nil }.count == 4)
      #expect(states.filter { $0.state == nil }.allSatisfy { $0.place.hasPrefix("live-second") })
    }
  }

  @Test("What was removed is withdrawn; what its library's owner closed is still there")
  func withdrawn() throws {
    let opened = try Self.opened()
    let steps = [Self.hive, opened[1], opened[0], "entries", "remove=Greeter"]
    try Self.withHost(steps) { pid, _ in
      let states = try states(of: pid)
      #expect(tally(states)["withdrawn"] == 2)
    }
    try Self.withHost([Self.hive] + opened + ["entries", "close", opened[1], "entries"]) { pid, _ in
      let states = try states(of: pid)
      #expect(tally(states) == ["bound": 2, "accepted": 2, "rejected": 4])
    }
  }

  @Test("What is opened again and again has its cells once") func reuse() throws {
    try Self.withHost([Self.hive, "reopen=./\(try Self.libraries.get()[1])"]) { _, printed in
      let cells = printed.first.flatMap { Int($0.split(separator: " ")[0]) }
      #expect((1...8).contains(cells ?? 0), "\(printed)")
    }
  }

  /// A word of the record, by its number, and what it is set to; the code of the problem.
  private static let damages = [
    ("word=1:2", "unsupported"), ("word=2:1", "unreadable"), ("word=0:8", "malformed"),
    ("word=4:0", "malformed"), ("word=4:31", "malformed"), ("word=4:4096", "malformed"),
    ("word=5:0xffffffff", "malformed"), ("word=5:0x30000", "truncated"),
    ("word=6:8", "truncated"), ("word=7:0xffffffff", "truncated"),
  ]

  @Test("A record that cannot be true is a problem, and the entries are shown", arguments: damages)
  func damaged(step: String, code: String) throws {
    try Self.withHost([Self.hive, try Self.opened()[0], "entries", step]) { pid, _ in
      let outcome = try Tool.live(pid)
      #expect(outcome.status == 2)
      #expect(outcome.output.contains("\"code\":\"\(code)\""), "\(outcome.errors)")
      #expect(tally(try states(outcome)) == [nil: 4])
    }
  }

  @Test(
    "A record with noise in it is a problem or harmless",
    arguments: Effort.sample(8, of: Array(1...24)))
  func noise(seed: Int) throws {
    try Self.withHost([Self.hive] + Self.opened() + ["entries", "noise=\(seed)"]) { pid, _ in
      let outcome = try Tool.live(pid)
      #expect([0, 2].contains(outcome.status))
      _ = try Tool.object(outcome.output)
    }
  }

  @Test("A process that changes all the time is read at one of its moments, or that is said")
  func changing() throws {
    let opened = try Self.opened()
    let steps = [Self.hive, opened[0], "entries", "churn=./live-second.so"]
    try Self.withHost(steps) { pid, _ in
      for _ in 0..<10 {
        let outcome = try Tool.live(pid)
        #expect([0, 2].contains(outcome.status))
        let files = try Tool.files(of: outcome)
        let first = files.first { ($0["path"] as? String)?.hasSuffix("live-first.so") == true }
        let records = try #require(first?["records"] as? [[String: Any]])
        let words = records.compactMap { $0["state"] as? String }.sorted()
        #expect(
          words == ["accepted", "accepted", "bound", "bound"]
            || outcome.errors.contains("changed each time"), "\(words) \(outcome.errors)")
      }
    }
  }
}
