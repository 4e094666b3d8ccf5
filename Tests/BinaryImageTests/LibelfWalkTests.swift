import Foundation
import TestSupport
import Testing

/// libelf reads what the walk has copied: each image with notes passes through it, nobody is silent when it
/// opens nothing, and nothing of it runs in the callback of `dl_iterate_phdr`.
@Suite struct LibelfWalkTests {
  /// A host in C with plugins: a line for each entry, each remark, and each image with a note segment.
  private static let host = Result {
    try Fixture.compile(
      """
      #define _GNU_SOURCE
      #include <beehive/runtime.h>
      #include <dlfcn.h>
      #include <link.h>
      #include <stdio.h>
      static bool entry(const beehive_entry *entry, void *unused) {
        (void)unused;
        printf("entry %s\\n", entry->name);
        return true;
      }
      static bool remark(const char *remark, void *unused) {
        (void)unused;
        printf("remark %s\\n", remark);
        return true;
      }
      static int note(struct dl_phdr_info *image, size_t size, void *unused) {
        (void)size, (void)unused;
        for (int i = 0; i < image->dlpi_phnum; i++) {
          if (image->dlpi_phdr[i].p_type != PT_NOTE) continue;
          printf("noted %s\\n", image->dlpi_name);
          break;
        }
        return 0;
      }
      int main(int count, char **plugins) {
        for (int i = 1; i < count; i++)
          if (!dlopen(plugins[i], RTLD_NOW)) { puts(dlerror()); return 1; }
        beehive_entries(entry, NULL);
        beehive_remarks(remark, NULL);
        dl_iterate_phdr(note, NULL);
        return 0;
      }
      """, as: "libelf-host",
      [
        "-O1", "-I", Fixture.headers, "-L\(Repository.products.path)", "-lBeeHive",
        "-Wl,-rpath,\(Repository.products.path)",
      ])
  }

  private static let plugins = Result {
    try Fixture.notedLibraries((0..<4).map { "counted_\($0)" })
  }

  /// The ends of the lines that begin with a word.
  private func lines(_ outcome: Outcome, _ word: String) -> [String] {
    outcome.lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
  }

  @Test("libelf reads each image with a note", .opensLibrary) func counts() throws {
    let plugins = try Self.plugins.get()
    let (outcome, counts) = try LibelfCounter().run(Self.host.get(), plugins)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(lines(outcome, "remark") == [])
    #expect(lines(outcome, "entry").count == 3 * plugins.count)
    let noted = lines(outcome, "noted")
    #expect(noted.count > plugins.count, "\(noted)")
    for call in ["elf_memory", "gelf_getphdr", "elf_getdata_rawchunk", "gelf_getnote"] {
      #expect(try #require(counts[call]) >= noted.count, "\(call) of \(counts)")
    }
  }

  @Test("The Hive reports each image that libelf did not open", .opensLibrary) func unread() throws
  {
    let plugins = try Self.plugins.get()
    let (outcome, counts) = try LibelfCounter().run(Self.host.get(), plugins, isBroken: true)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(lines(outcome, "entry") == [])
    let remarks = lines(outcome, "remark")
    for plugin in plugins {
      #expect(remarks.contains { $0.hasPrefix("\(plugin): libelf did not open ") }, "\(remarks)")
    }
    #expect(try #require(counts["elf_memory"]) >= plugins.count)
    #expect(counts["gelf_getnote"] == 0)
  }

  /// Heap profilers are such allocators: they walk the list for a backtrace.
  @Test("An allocator that walks the loader's list under its own lock does not deadlock")
  func profiledAllocator() throws {
    let program = try EventsHost.program(
      """
      #include <link.h>
      extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
      static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
      static volatile bool is_profiled;
      static __thread bool is_inside;
      static __thread size_t allocations;
      static int visit(struct dl_phdr_info *i, size_t s, void *c) { (void)i, (void)s, (void)c; return 0; }
      static void profile(void) {
        if (!is_profiled || is_inside) return;
        is_inside = true;
        allocations++;
        pthread_mutex_lock(&lock);
        dl_iterate_phdr(visit, NULL);
        pthread_mutex_unlock(&lock);
        is_inside = false;
      }
      void *malloc(size_t size) { profile(); return __libc_malloc(size); }
      void *calloc(size_t count, size_t size) { profile(); return __libc_calloc(count, size); }
      static void *allocate(void *unused) {
        while (is_profiled) { void *volatile bytes = malloc(32); free(bytes); }
        return unused;
      }
      int main(void) {
        is_profiled = true;
        pthread_t thread;
        pthread_create(&thread, NULL, allocate, NULL);
        for (int i = 0; i < 5000; i++) {
          image_list list = {0}, previous = {0};
          CHECK(image_list_scan(&list, &previous));
          CHECK(list.count > 2);
          image_list_free(&list);
          image_list_free(&previous);
        }
        is_profiled = false;
        pthread_join(thread, NULL);
        CHECK(allocations > 5000 * 3);
        return failures;
      }
      """, as: "profiled-host", ["-pthread"])
    #expect(try EventsHost.run(program) == "")
  }

  @Test("Several threads walk at once, each with handles of its own") func threads() throws {
    let program = try EventsHost.program(
      """
      static image_list expected;
      static void *walk(void *unused) {
        for (int i = 0; i < 20000; i++) {
          image_list list = {0}, previous = {0};
          bool is_same = image_list_scan(&list, &previous) && list.count == expected.count;
          for (size_t n = 0; n < list.count && is_same; n++)
            is_same = image_list_same(&list, n, &expected, n);
          CHECK(is_same);
          image_list_free(&list);
          image_list_free(&previous);
        }
        return unused;
      }
      int main(int count, char **plugins) {
        for (int i = 1; i < count; i++) load(plugins[i]);
        image_list previous = {0};
        CHECK(image_list_scan(&expected, &previous));
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, walk, NULL);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        return failures;
      }
      """, as: "walking-host", ["-pthread"])
    #expect(try EventsHost.run(program, Self.plugins.get()) == "")
  }
}
