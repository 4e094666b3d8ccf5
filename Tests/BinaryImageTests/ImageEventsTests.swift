import Foundation
import TestSupport
import Testing

/// The hook and its pending list, each case in a process of its own.
@Suite struct ImageEventsTests {
  @Test func `A node is pending once, and goes with its image`() throws {
    let program = try EventsHost.program(
      """
      int main(void) {
        beehive_image a = {.size = sizeof a, .version = 1, .header = "a"};
        beehive_image b = {.size = sizeof b, .version = 1, .header = "b"};
        beehive_image c = {.size = sizeof c, .version = 1, .header = "c"};
        image_event taken[4];
        uintptr_t start = image_events_generation();
        beehive_image_event(&a, 1);
        CHECK(image_events_generation() == start + 1);
        beehive_image_event(&a, 1);              // twice, as ThinLTO might
        CHECK(image_events_take(taken, 4) == 1);
        CHECK(!taken[0].pinned);                 // it is in no image
        beehive_image_event(&a, 0);
        beehive_image_event(&a, 1);              // another in its place
        beehive_image_event(&b, 1);
        beehive_image_event(&c, 1);
        beehive_image_event(&b, 0);              // from the middle
        memset(&b, 0xff, sizeof b);              // its memory is somebody else's now
        beehive_image_event(&a, 0);              // the last
        beehive_image_event(&a, 0);              // twice
        beehive_image_event(&a, 1);              // and back
        CHECK(image_events_take(taken, 1) == 1);
        CHECK(!strcmp(taken[0].header, "a"));
        CHECK(image_events_take(taken, 4) == 1);
        CHECK(!strcmp(taken[0].header, "c"));
        CHECK(image_events_take(taken, 4) == 0);
        beehive_image_event(&a, 1);              // known already
        CHECK(image_events_take(taken, 4) == 0);
        beehive_image later = {.size = 8, .version = 2};
        uintptr_t before = image_events_generation();
        beehive_image_event(&later, 1);
        CHECK(image_events_take(taken, 4) == 0); // its layout is unknown; the walk must do
        CHECK(image_events_generation() == before + 1);
        return failures;
      }
      """, as: "events-nodes")
    #expect(try EventsHost.run(program) == "")
  }

  @Test func `Two threads load and close, and what came stays`() throws {
    let program = try EventsHost.program(
      """
      static void *cycle(void *path) {
        for (int i = 0; i < 500; i++) {
          void *handle = load(path);
          if (handle == NULL) return NULL;
          dlclose(handle);
        }
        return NULL;
      }
      static void *drain(void *stop) {
        image_event taken[3];
        while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) image_events_take(taken, 3);
        return NULL;
      }
      int main(int count, char **arguments) {
        pthread_t first, second, third;
        bool stop = false;
        bool drains = count > 3;
        if (drains) pthread_create(&third, NULL, drain, &stop);
        pthread_create(&first, NULL, cycle, arguments[1]);
        pthread_create(&second, NULL, cycle, arguments[2]);
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
        if (drains) pthread_join(third, NULL);
        image_event taken[3];
        size_t left = image_events_take(taken, 3);
        CHECK(left <= 2 && (drains || left == 2));
        CHECK(image_events_generation() == 2);
        CHECK(is_mapped(arguments[1]) && is_mapped(arguments[2]));
        return failures;
      }
      """, as: "events-threads", ["-pthread"])
    let libraries = try ["cycle_a", "cycle_b"].map {
      try Fixture.library(Fixture.noted($0), as: "\($0).so")
    }
    #expect(try EventsHost.run(program, libraries) == "")
    #expect(try EventsHost.run(program, libraries + ["drain"]) == "")
  }

  @Test func `An image that announces itself stays, another goes`() throws {
    let program = try EventsHost.program(
      """
      int main(int count, char **arguments) {
        for (int i = 0; i < 3; i++) {
          void *silent = load(arguments[1]), *noted = load(arguments[2]);
          if (failures) return failures;
          dlclose(noted);
          dlclose(silent);
          CHECK(!is_mapped(arguments[1]));
          CHECK(is_mapped(arguments[2]));
        }
        image_event taken[2];
        CHECK(image_events_take(taken, 2) == 1 && taken[0].pinned);
        // By a relative name, and the directory changes at once.
        void *relative = load("./stays_too.so");
        CHECK(chdir("/") == 0);
        dlclose(relative);
        CHECK(is_mapped("./stays_too.so"));
        CHECK(dlerror() == NULL);
        return failures;
      }
      """, as: "events-pin")
    let silent = try Fixture.library(Fixture.handWritten("goes"), as: "goes.so")
    let noted = try Fixture.library(Fixture.noted("stays"), as: "stays.so")
    _ = try Fixture.library(Fixture.noted("stays_too"), as: "stays_too.so")
    #expect(try EventsHost.run(program, [silent, noted]) == "")
  }

  @Test func `A child of a process that takes images can load its own`() throws {
    let program = try EventsHost.program(
      """
      static void *drain(void *unused) {
        image_event taken[1];
        for (;;) image_events_take(taken, 1);
        return unused;
      }
      int main(int count, char **arguments) {
        pthread_t thread;
        image_event taken[1];
        image_events_take(taken, 1);
        pthread_create(&thread, NULL, drain, NULL);
        for (int i = 0; i < 200; i++) {
          pid_t child = fork();
          if (child == 0) {
            alarm(300);
            void *handle = load(arguments[1]);
            if (handle != NULL) dlclose(handle);
            _exit(failures);
          }
          int status = 0;
          waitpid(child, &status, 0);
          CHECK(status == 0);
          if (status != 0) break;
        }
        return failures;
      }
      """, as: "events-fork", ["-pthread"])
    let library = try Fixture.library(Fixture.noted("child"), as: "child.so")
    #expect(try EventsHost.run(program, [library]) == "")
  }

  @Test(arguments: ["-no-pie", "-pie"], [[], ["patchelf"]])
  func `A program's own note is right, or it is not believed`(
    _ position: String, _ tools: [String]
  ) throws {
    if let tool = tools.first { try Needs.programs(tool) }
    let name = "events-own\(position)\(tools.count)"
    let program = try EventsHost.program(
      """
      #include <BeeHive.h>
      BeeHiveMod(Own.Module);
      static char large[100000] = {1};         // so that a wrong range would still be inside
      int main(void) {
        image_list list = {0}, previous = {0};
        CHECK(image_list_scan(&list, &previous));
        image_entry own = list.entries[0];
        CHECK(own.role == IMAGE_ROLE_MAIN);
        CHECK(large[0] == 1);
        if (own.note == IMAGE_NOTE_FOUND) {
          const char *const *mods = (const char *const *)own.sections[0].start;
          CHECK(own.sections[0].stop - own.sections[0].start == sizeof *mods);
          CHECK(!strcmp(*mods, "Own.Module"));
        } else {
          CHECK(own.note == IMAGE_NOTE_MOVED);
        }
        return failures;
      }
      """, as: name, [position, position == "-pie" ? "-fPIE" : "-fno-pie"])
    if let tool = tools.first {
      let path = Fixture.directory.path + ":/" + String(repeating: "long/", count: 900)
      try Fixture.run(tool, ["--set-rpath", path, program])
    }
    #expect(try EventsHost.run(program) == "")
  }
}
