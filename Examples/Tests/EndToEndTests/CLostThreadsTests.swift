import Foundation
import Testing

/// Nobody waits for threads of hosts in C that are cancelled, stay behind in a fork, or have the loader's lock.
@Suite struct CLostThreadsTests {
  /// Runs a host; a hang ends it by a signal.
  private func run(_ host: String) throws -> [String] {
    let workshop = try Workshop()
    // Its constructor waits for a thread that has the host call the Hive.
    let waiting = try workshop.source(
      "waiting",
      """
      #include <pthread.h>
      void *call(void *number);
      __attribute__((constructor)) static void wait(void) {
        pthread_t thread;
        for (long number = 0; number < 8; number++) {
          pthread_create(&thread, 0, call, (void *)number);
          pthread_join(thread, 0);
        }
      }
      """)
    try workshop.library("waiting", from: [waiting], [])
    let source = """
      #include <BeeHive.h>
      #include <sys/wait.h>
      static bool hear(const beehive_context *c, const beehive_event *e) { return c && e; }
      static const beehive_module_operations operations = { .event = hear };
      BEEHIVE_MODULE(hearer, &operations);
      static volatile unsigned delay;
      static void *make(const beehive_context *c) { usleep(delay); return c ? malloc(1) : NULL; }
      BEEHIVE_SERVICE_FACTORY(Single, Slow, make, free, BEEHIVE_SCOPE("singleton"));
      BEEHIVE_SERVICE_FACTORY(Weak, Slow, make, free, BEEHIVE_SCOPE("weak"));
      static bool pass(const char *remark, void *c) { (void)c; return remark; }

      """
    return try workshop.output(
      workshop.hostInC(Workshop.prologueInC + source + host, ["-rdynamic"]), []
    ).split(separator: "\n").map(String.init)
  }

  @Test("A constructor that waits for a thread gets the answer of each call")
  func constructor() throws {
    let said = try run(
      """
      void *call(void *number) {
        static const int table;
        switch ((long)number) {
        case 0: TRY(beehive_trigger(1000, "sold", NULL, 0)); break;
        case 1: TRY(beehive_service("Single", 0)); break;
        case 2: TRY(beehive_register_service("Table", "Table", &table)); break;
        case 3: TRY(beehive_register_module("late", &operations)); break;
        case 4: TRY(beehive_start_latecomers()); break;
        case 5: TRY(beehive_unregister_module("late")); break;
        case 6: TRY(beehive_stop()); break;
        default: TRY(beehive_start());
        }
        return NULL;
      }
      int main(void) {
        alarm(600);
        beehive_start();
        dlopen("./libwaiting.so", RTLD_NOW);
      }
      """)
    #expect(said.count == 8 && said.allSatisfy { $0.hasSuffix(": yes") }, "\(said)")
  }

  @Test(
    "A thread is not cancelled while it waits for what another makes",
    arguments: ["Single", "Weak"])
  func cancelled(service: String) throws {
    let said = try run(
      """
      static void *ask(void *unused) { return (void)unused, (void *)beehive_service("\(service)", 0); }
      int main(void) {
        alarm(600);
        pthread_t maker, other;
        delay = 300000;
        pthread_create(&maker, NULL, ask, NULL);
        usleep(100000);
        pthread_create(&other, NULL, ask, NULL);
        usleep(100000);
        pthread_cancel(other);
        void *made, *got;
        pthread_join(maker, &made);
        pthread_join(other, &got);
        SAY("%d %d", made == got, made == beehive_service("\(service)", 0));
      }
      """)
    #expect(said == ["1 1"])
  }

  @Test("A child that would wait for a thread of its parent ends and says so")
  func forked() throws {
    let said = try run(
      """
      static volatile bool isOver;
      static void *bother(void *unused) {
        while (!isOver) {
          beehive_trigger(1000, "sold", NULL, 0);
          beehive_destroy("Weak", NULL, beehive_service("Weak", 0));
        }
        return unused;
      }
      int main(void) {
        alarm(600);
        beehive_start();
        // The first calls of a process take locks of Swift's runtime, which stay held in a child.
        for (int time = 0; time < 3; time++) {
          beehive_trigger(1000, "sold", NULL, 0);
          beehive_destroy("Weak", NULL, beehive_service("Weak", 0));
        }
        beehive_remarks(pass, NULL);
        beehive_unregister_service("None");
        pthread_t thread;
        pthread_create(&thread, NULL, bother, NULL);
        int wrong = 0;
        for (int round = 0; round < 300; round++) {
          usleep(1000);
          const pid_t child = fork();
          if (!child) {
            alarm(60);
            freopen("/dev/null", "w", stderr);
            beehive_service("Single", 0);
            beehive_remarks(pass, NULL);
            beehive_unregister_service("Weak");
            _exit(0);
          }
          int status = -1;
          waitpid(child, &status, 0);
          if (status != 0 && !(WIFEXITED(status) && WEXITSTATUS(status) == 70)) {
            wrong++;
            SAY("round %d: status %#x", round, status);
          }
        }
        isOver = true;
        pthread_join(thread, NULL);
        SAY("%d", wrong);
      }
      """)
    #expect(said == ["0"])
  }
}
