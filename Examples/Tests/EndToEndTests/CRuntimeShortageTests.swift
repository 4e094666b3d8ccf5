import Testing

// The system gives no descriptor or no thread: each call answers, or says so.
extension CRuntimeTests {
  /// A module that waits in its event for something on the main thread, and the way to have no descriptor left.
  private static let window = """
    #include <semaphore.h>
    #include <sys/resource.h>
    static sem_t ran;
    static void work(void *unused) { (void)unused; SAY("on the main thread: %d", gettid() == getpid()); sem_post(&ran); }
    static bool event(const beehive_context *c, const beehive_event *e) {
      (void)c, (void)e;
      void *dispatch = dlopen("libdispatch.so", RTLD_NOW | RTLD_NOLOAD);
      void (*async)(void *, void *, void (*)(void *)) = dlsym(dispatch, "dispatch_async_f");
      async(dlsym(dispatch, "_dispatch_main_q"), NULL, work);
      return sem_wait(&ran) == 0;
    }
    static const beehive_module_operations window = { .event = event };
    static void close_all(void) { for (int i = 3; i < 64; i++) close(i); }
    static void open_all(void) {
      setrlimit(RLIMIT_NOFILE, &(struct rlimit){64, 64});
      while (dup(1) >= 0) {}
    }

    """

  @Test(
    "Without a descriptor the first start is refused; later calls serve the main actor all the same"
  )
  func descriptors() throws {
    let said = try host(
      Self.window + """
        int main(void) {
          alarm(120);
          open_all();
          TRY(beehive_start());
          close_all();
          TRY(beehive_register_module("window", &window));
          TRY(beehive_start());
          TRY(beehive_trigger(1001, "drawn", NULL, 0));
          open_all();
          TRY(beehive_trigger(1001, "full", NULL, 0));
          close_all();
          TRY(beehive_trigger(1001, "closed", NULL, 0));
          int ends[2];
          for (int i = 0; i < 8; i++) if (pipe(ends)) return 1;
          TRY(beehive_trigger(1001, "others", NULL, 0));
          TRY(beehive_stop());
        }
        """, in: Workshop())
    let registered = #"beehive_register_module("window", &window)"#
    #expect(
      said == [
        "beehive_start(): no descriptor for the main queue: Too many open files",
        "\(registered): yes", "beehive_start(): yes",
      ]
        + ["drawn", "full", "closed", "others"].flatMap {
          ["on the main thread: 1", #"beehive_trigger(1001, "\#($0)", NULL, 0): yes"#]
        } + ["beehive_stop(): yes"])
  }

  @Test(
    "Without a thread the first start is refused; later calls do with the threads that are there")
  func threads() throws {
    let said = try host(
      """
      #include <errno.h>
      static bool isShort;
      int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*f)(void *), void *c) {
        if (isShort) return EAGAIN;
        return ((int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))
                    dlsym(RTLD_NEXT, "pthread_create"))(t, a, f, c);
      }
      NAMED(one);
      int main(void) {
        alarm(120);
        isShort = true;
        TRY(beehive_start());
        isShort = false;
        TRY(beehive_register_module("one", &one));
        TRY(beehive_start());
        isShort = true;
        TRY(beehive_trigger(1001, "sold", "tea", 3));
        TRY(beehive_stop());
        TRY(beehive_start());
        TRY(beehive_stop());
      }
      """, in: Workshop())
    #expect(
      said == [
        "beehive_start(): no thread can be made: Resource temporarily unavailable",
        #"beehive_register_module("one", &one): yes"#, "one set_up", "beehive_start(): yes",
        "one 1001 sold tea", #"beehive_trigger(1001, "sold", "tea", 3): yes"#, "one unmount",
        "beehive_stop(): yes", "one set_up", "beehive_start(): yes", "one unmount",
        "beehive_stop(): yes",
      ])
  }
}
