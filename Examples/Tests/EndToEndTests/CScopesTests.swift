import Testing

/// The lifetime of what a C factory makes: as long as its scope, or as long as somebody has it.
@Suite struct CScopesTests {
  private static let library = """
    #include <BeeHive.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include "contract.h"
    struct item { int number; const struct item *session; };
    static struct item *made(const char *what, const struct item *session) {
      static int count;
      struct item *item = malloc(sizeof *item);
      if (!item) return NULL;
      *item = (struct item){ .number = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED), .session = session };
      if (!getenv("SILENT")) printf("%s %d\\n", what, item->number);
      return item;
    }
    static void destroy(void *item) {
      if (!getenv("SILENT")) printf("destroys %d\\n", ((struct item *)item)->number);
      ((struct item *)item)->number = -1;
      free(item);
    }
    static void *make_session(const beehive_context *context) {
      (void)context;
      return made("session", NULL);
    }
    static void *make_basket(const beehive_context *context) {
      const void *session = beehive_context_service(context, "Session", NULL, sizeof(struct item));
      return session ? made("basket", session) : NULL;
    }
    static void *make_page(const beehive_context *context) {
      const void *session = beehive_context_service(context, "Session", NULL, sizeof(struct item));
      return session ? made("page", session) : NULL;
    }
    void (*meanwhile)(void);
    static void *make_tail(const beehive_context *context) {
      (void)context;
      if (meanwhile) meanwhile();
      return made("tail", NULL);
    }
    BEEHIVE_SERVICE_FACTORY(Tail, Made, make_tail, destroy, BEEHIVE_SCOPE("scoped"));
    BEEHIVE_SERVICE_FACTORY(Suicide, Made, make_tail, destroy, BEEHIVE_SCOPE("singleton"));
    static void *make_pen(const beehive_context *context) {
      (void)context;
      return made("pen", NULL);
    }
    BEEHIVE_SERVICE_FACTORY(Pen, Made, make_pen, destroy);
    static const beehive_context *stopping;
    static void *make_ink(const beehive_context *context) {
      static beehive_context kept;
      kept = *context;
      stopping = &kept;
      return made("ink", NULL);
    }
    static void *make_paper(const beehive_context *context) {
      (void)context;
      return made("paper", NULL);
    }
    static void destroy_paper(void *paper) {
      const struct item *ink = beehive_context_service(stopping, "Ink", NULL, sizeof(struct item));
      printf("paper asks for ink %d\\n", ink ? ink->number : 0);
      destroy(paper);
    }
    BEEHIVE_SERVICE_FACTORY(Ink, Made, make_ink, destroy, BEEHIVE_SCOPE("singleton"));
    BEEHIVE_SERVICE_FACTORY(Paper, Made, make_paper, destroy_paper, BEEHIVE_SCOPE("singleton"));
    static void *make_camera(const beehive_context *context) {
      (void)context;
      return made("camera", NULL);
    }
    BEEHIVE_SERVICE_FACTORY(Session, Made, make_session, destroy, BEEHIVE_SCOPE("scoped"));
    BEEHIVE_SERVICE_FACTORY(Basket, Made, make_basket, destroy, BEEHIVE_SCOPE("scoped"));
    BEEHIVE_SERVICE_FACTORY(Page, Made, make_page, destroy);
    BEEHIVE_SERVICE_FACTORY(Register, Made, make_page, destroy, BEEHIVE_SCOPE("singleton"));
    BEEHIVE_SERVICE_FACTORY(Camera, Made, make_camera, destroy, BEEHIVE_SCOPE("weak"));
    """

  /// Another provider of one of them, which comes first.
  private static let other = """
    #include <BeeHive.h>
    #include <stdio.h>
    static int item[4];
    static void *make(const beehive_context *context) { (void)context; puts("other made"); return item; }
    static void destroy(void *item) { (void)item; puts("other destroys"); }
    BEEHIVE_SERVICE_FACTORY(Pen, Other, make, destroy, BEEHIVE_PRIORITY(5));
    """

  private static let prologue =
    Workshop.prologueInC + """
      struct item { int number; const struct item *session; };
      static const struct item *in(beehive_scope *scope, const char *service) {
        return beehive_scope_service(scope, service, NULL, sizeof(struct item));
      }

      """

  /// The slot of the session.
  private static let first = 4

  private static func run(_ main: String) throws -> [String] {
    let workshop = try Workshop()
    try workshop.library("scopes", library)
    try workshop.library("other", other)
    let host = try workshop.hostInC(prologue + "#line 1 \"host.c\"\n" + main)
    return try workshop.output(host, []).split(separator: "\n").map(String.init)
  }

  @Test("A scope makes one of each, for what its factories ask too, and destroys the latest first")
  func scoped() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        dlopen("./libscopes.so", RTLD_NOW);
        beehive_scope *scope = beehive_scope_begin(NULL);
        const struct item *basket = in(scope, "Basket"), *page = in(scope, "Page");
        SAY("%d %d", basket->number, page->number);
        SAY("one session: %d", basket->session == in(scope, "Session") && page->session == basket->session);
        SAY("page given back: %d", beehive_destroy("Page", NULL, page));
        SAY("basket given back: %d", beehive_destroy("Basket", NULL, basket));
        SAY("%s", beehive_last_error());
        beehive_scope *inner = beehive_scope_begin(scope);
        SAY("another basket: %d", in(inner, "Basket") != basket);
        beehive_scope_end(scope);
        SAY("ended: %d", in(inner, "Basket") == NULL);
        SAY("%s", beehive_last_error());
        beehive_scope_end(inner);
        beehive_scope_end(NULL);
      }
      """)
    #expect(
      said == [
        "session 1", "basket 2", "page 3", "2 3", "one session: 1", "destroys 3",
        "page given back: 1", "basket given back: 0",
        "service Basket: no factory of this name has made it, or it is kept until its scope or the "
          + "Hive ends",
        "session 4", "basket 5", "another basket: 1", "destroys 5", "destroys 4", "destroys 2",
        "destroys 1", "ended: 1",
        "service Basket: libscopes.so BeehiveRecords[\(Self.first + 2)] has scope=scoped, and the scope that was asked "
          + "has ended",
      ])
  }

  @Test("A scope that ends while its factory runs: what that makes is destroyed, and refused")
  func endedMeanwhile() throws {
    let said = try Self.run(
      """
      static beehive_scope *scope;
      static void end(void) { beehive_scope_end(scope); }
      int main(void) {
        alarm(600);
        void *library = dlopen("./libscopes.so", RTLD_NOW);
        *(void (**)(void))dlsym(library, "meanwhile") = end;
        scope = beehive_scope_begin(NULL);
        SAY("refused: %d", in(scope, "Tail") == NULL);
        SAY("%s", beehive_last_error());
        dlclose(library);
      }
      """)
    #expect(
      said == [
        "tail 1", "destroys 1", "refused: 1",
        "service Tail: libscopes.so BeehiveRecords[0] has scope=scoped, and the scope that was asked "
          + "has ended",
      ])
  }

  @Test(
    "Without a scope, and from what outlives every scope, a scoped one is refused with a reason")
  func unscoped() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        dlopen("./libscopes.so", RTLD_NOW);
        SAY("%d", beehive_service("Session", sizeof(struct item)) != NULL);
        SAY("%s", beehive_last_error());
        beehive_scope *scope = beehive_scope_begin(NULL);
        SAY("%d", in(scope, "Register") != NULL);
        SAY("%s", beehive_last_error());
        beehive_scope_end(scope);
      }
      """)
    let advice =
      "beehive_scope_service(…), in Swift hive.makeScope().service(…); no singleton can need it, since that outlives "
      + "every scope"
    #expect(
      said == [
        "0",
        "service Session: libscopes.so BeehiveRecords[\(Self.first + 1)] has scope=scoped; ask a scope: "
          + advice,
        "0",
        "service Register: libscopes.so BeehiveRecords[\(Self.first + 4)] failed to make it: its factory answered null, having been told: "
          + "service Session: libscopes.so BeehiveRecords[\(Self.first + 1)] has scope=scoped; ask a scope: "
          + advice,
      ])
  }

  @Test("A weak one is shared until each request has been given back, and then made again")
  func weak() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = dlopen("./libscopes.so", RTLD_NOW);
        const struct item *camera = beehive_service("Camera", sizeof(struct item));
        SAY("shared: %d", beehive_service("Camera", sizeof(struct item)) == camera);
        struct item other = { 0 };
        SAY("another's: %d", beehive_destroy("Camera", NULL, &other));
        SAY("one: %d", beehive_destroy("Camera", NULL, camera));
        SAY("both: %d", beehive_destroy("Camera", NULL, camera));
        SAY("once more: %d", beehive_destroy("Camera", NULL, camera));
        camera = beehive_service("Camera", sizeof(struct item));
        dlclose(library);
        SAY("again: %d", beehive_destroy("Camera", NULL, camera));
      }
      """)
    #expect(
      said == [
        "camera 1", "shared: 1", "another's: 0", "one: 1", "destroys 1", "both: 1", "once more: 0",
        "camera 2", "destroys 2", "again: 1",
      ])
  }

  @Test("An object goes to the factory that made it, once, and to no other")
  func ownFactory() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = dlopen("./libscopes.so", RTLD_NOW);
        const struct item *pen = beehive_service("Pen", sizeof(struct item));
        void *other = dlopen("./libother.so", RTLD_NOW);
        SAY("another answers: %d", beehive_service("Pen", sizeof(struct item)) != pen);
        SAY("given back: %d", beehive_destroy("Pen", NULL, pen));
        SAY("twice: %d", beehive_destroy("Pen", NULL, pen));
        SAY("foreign: %d", beehive_destroy("Pen", NULL, &other));
        dlclose(library);
      }
      """)
    #expect(
      said == [
        "pen 1", "other made", "another answers: 1", "destroys 1", "given back: 1", "twice: 0",
        "foreign: 0",
      ])
  }

  @Test("A destroy that asks for another service at the stop gets the one that there is")
  func askedAtTheStop() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = dlopen("./libscopes.so", RTLD_NOW);
        beehive_service("Ink", sizeof(struct item));
        beehive_service("Paper", sizeof(struct item));
        dlclose(library);
        TRY(beehive_stop());
      }
      """)
    #expect(
      said == [
        "ink 1", "paper 2", "paper asks for ink 1", "destroys 2", "destroys 1",
        "beehive_stop(): yes",
      ])
  }

  @Test("A factory that stops the Hive is told so, and does not run for ever")
  func stopsItself() throws {
    let said = try Self.run(
      """
      static void stop(void) { beehive_stop(); }
      int main(void) {
        alarm(600);
        setenv("SILENT", "1", 1);
        void *library = dlopen("./libscopes.so", RTLD_NOW);
        *(void (**)(void))dlsym(library, "meanwhile") = stop;
        SAY("refused: %d", beehive_service("Suicide", sizeof(struct item)) == NULL);
        SAY("%s", beehive_last_error());
      }
      """)
    #expect(
      said == [
        "refused: 1",
        "service Suicide: libscopes.so BeehiveRecords[1] was removed, or the Hive stopped, each time that "
          + "it was made; stop the Hive from elsewhere than its factory",
      ])
  }

  @Test(
    "20,000 scopes, each in the one before, end together; beside 20,000 others one begins at once")
  func deep() throws {
    let said = try Self.run(
      """
      static beehive_scope *scopes[20000];
      int main(void) {
        alarm(600);
        setenv("SILENT", "1", 1);
        dlopen("./libscopes.so", RTLD_NOW);
        for (int i = 0; i < 20000; i++) scopes[i] = beehive_scope_begin(i ? scopes[i - 1] : NULL);
        SAY("%d", in(scopes[19999], "Basket") != NULL);
        for (int i = 0; i < 20000; i++) beehive_scope_end(scopes[i]);
        beehive_scope *outer = beehive_scope_begin(NULL);
        for (int i = 0; i < 20000; i++) scopes[i] = beehive_scope_begin(outer);
        beehive_scope_end(outer);
        SAY("%d", in(scopes[0], "Basket") == NULL);
        for (int i = 0; i < 20000; i++) beehive_scope_end(scopes[i]);
        SAY("ended");
      }
      """)
    #expect(said == ["1", "1", "ended"])
  }

  @Test(
    "What is alive when the Hive stops: a weak one is destroyed, a scoped one when its scope ends")
  func stopped() throws {
    let said = try Self.run(
      """
      int main(void) {
        alarm(600);
        void *library = dlopen("./libscopes.so", RTLD_NOW);
        beehive_service("Camera", sizeof(struct item));
        beehive_scope *scope = beehive_scope_begin(NULL);
        in(scope, "Session");
        dlclose(library);
        TRY(beehive_stop());
        beehive_scope_end(scope);
      }
      """)
    #expect(
      said == [
        "camera 1", "session 2", "destroys 1", "beehive_stop(): yes", "destroys 2",

      ])
  }

  @Test("Threads that share a weak one never have one that was destroyed")
  func together() throws {
    let said = try Self.run(
      """
      static bool sound = true;
      static void *work(void *unused) {
        for (int round = 0; round < 1000; round++) {
          const struct item *camera = beehive_service("Camera", sizeof(struct item));
          beehive_scope *scope = beehive_scope_begin(NULL);
          const struct item *basket = in(scope, "Basket");
          if (!camera || camera->number <= 0 || basket->session->number <= 0) sound = false;
          beehive_scope_end(scope);
          if (!beehive_destroy("Camera", NULL, camera)) sound = false;
        }
        return unused;
      }
      int main(void) {
        alarm(600);
        setenv("SILENT", "1", 1);
        void *library = dlopen("./libscopes.so", RTLD_NOW);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, NULL);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        dlclose(library);
        SAY("%s", sound ? "sound" : "broken");
      }
      """)
    #expect(said == ["sound"])
  }
}
