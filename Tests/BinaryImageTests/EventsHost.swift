import Foundation
import TestSupport

/// Programs in C around the hook: in the tests' own process it is not exported, and its list is the
/// Hive's.
enum EventsHost {
  private static let support = Repository.place("CSupport")

  private static var includes: [String] {
    ["CBeeHive", "CImageEvents", "CImageList"].flatMap {
      ["-I", support.appendingPathComponent("\($0)/include").path]
    }
  }

  private static func sources(of target: String) throws -> [String] {
    let directory = support.appendingPathComponent(target)
    return try FileManager.default.contentsOfDirectory(atPath: directory.path)
      .filter { $0.hasSuffix(".c") }.map { directory.appendingPathComponent($0).path }
  }

  /// A shared library of the hook, as libBeeHive.so holds it.
  static let runtime = Result {
    try Fixture.compile(
      "", as: "libevents.so",
      try sources(of: "CImageEvents") + sources(of: "CImageList")
        + ["-shared", "-fPIC", "-O2", "-std=gnu11", "-Wl,-soname,libevents.so", "-lelf"] + includes)
  }

  /// Builds a program whose `main` is `body`, linked with the hook, and answers its path.
  static func program(_ body: String, as name: String, _ arguments: [String] = []) throws -> String
  {
    _ = try runtime.get()
    return try Fixture.compile(
      """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <pthread.h>
      #include <signal.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <sys/wait.h>
      #include <unistd.h>
      #include "CImageEvents.h"
      #include "CImageList.h"
      static int failures;
      /* A case that hangs ends by itself; who starts it may have blocked every signal. */
      __attribute__((constructor)) static void give_up_in_the_end(void) {
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        alarm(600);
      }
      #define CHECK(condition) \\
        do { \\
          if (!(condition)) { failures++; printf("line %d: %s\\n", __LINE__, #condition); } \\
        } while (0)
      static void *load(const char *path) {
        void *handle = dlopen(path, RTLD_NOW);
        if (handle == NULL) { failures++; puts(dlerror()); }
        return handle;
      }
      static bool is_mapped(const char *name) {
        image_list list = {0}, previous = {0};
        bool found = false;
        CHECK(image_list_scan(&list, &previous));
        for (size_t i = 0; i < list.count; i++)
          found |= strcmp(list.names + list.entries[i].name, name) == 0;
        image_list_free(&list);
        image_list_free(&previous);
        return found;
      }
      \(body)
      """, as: name,
      ["-std=gnu11", "-Wall", "-Wl,--no-as-needed", "-L.", "-levents", "-Wl,-rpath,$ORIGIN"]
        + includes + arguments)
  }

  /// Runs a program to its end and answers what it printed: nothing, if all is well.
  static func run(_ path: String, _ arguments: [String] = []) throws -> String {
    try Fixture.run(URL(fileURLWithPath: path).path, arguments)
  }
}
