import Foundation
import Testing

/// A thousand libraries of ten entries each.
@Suite struct CrowdTests {
  /// The libraries, made once: one is compiled, and the others have its bytes with another number in
  /// every name.
  static let workshop = Result {
    let workshop = try Workshop()
    let names = (0..<4).map { "Speaker0000\($0)" }
    let services = names.map { "BEEHIVE_SERVICE(\($0), Table, &speaker);" }
    let template = try workshop.library(
      "template",
      """
      #include <BeeHive.h>
      #include "contract.h"
      static const char *say(void) { return "I am 0000"; }
      static const struct speaker speaker = { say };
      \(services.joined(separator: "\n"))
      BeeHiveMod(Crowd.Module00000); BeeHiveMod(Crowd.Module00001); BeeHiveMod(Crowd.Module00002);
      BeeHiveService(Crowd.View00000, Crowd.Model00000);
      BeeHiveService(Crowd.View00001, Crowd.Model00001);
      BeeHiveService(Crowd.View00002, Crowd.Model00002);
      """)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: template))
    let words = ["Speaker", "Module", "View", "Model", "I am "].map { "\($0)0000" }
    let places = words.flatMap { word in ends(of: Data(word.utf8), in: bytes) }
    for number in 0..<1000 {
      let digits = Data(String(10_000 + number).dropFirst().utf8)
      var copy = bytes
      for place in places { copy.replaceSubrange(place - 4..<place, with: digits) }
      try workshop.folder.write(copy, as: "crowd/lib\(10_000 + number).so")
    }
    return workshop
  }

  /// Returns the end of each occurrence.
  private static func ends(of word: Data, in bytes: Data) -> [Int] {
    var places: [Int] = []
    var rest = bytes.startIndex..<bytes.endIndex
    while let found = bytes.range(of: word, in: rest) {
      places.append(found.upperBound)
      rest = found.upperBound..<bytes.endIndex
    }
    return places
  }

  @Test("All ten thousand entries are there, once each, and a second walk changes nothing")
  func everyone() throws {
    let said = try Program.host(
      "touch", "open-all=crowd", "count", "walk-twice", "speak=Speaker09993",
      in: Self.workshop.get())
    #expect(
      said == [
        "4000 bound, 6000 accepted, 0 rejected", "10000 distinct, the second walk the same",
        "I am 0999",
      ])
  }

  @Test("They stay, whoever closes them") func closed() throws {
    let said = try Program.host(
      "open-all=crowd", "count", "close-all", "count", "open-all=crowd", "count",
      in: Self.workshop.get())
    #expect(
      said == [
        "4000 bound, 6000 accepted, 0 rejected", "4000 bound, 6000 accepted, 0 rejected",
        "4000 bound, 6000 accepted, 0 rejected",
      ])
  }

  /// Counts a process's calls of the loader and of the heap, if it is loaded before all others.
  static let counter = """
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <link.h>
    #include <stdatomic.h>
    #include <stddef.h>

    _Atomic long counts[3]; /* loader walks, allocations, bytes allocated */

    void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
    void *__libc_memalign(size_t, size_t);
    static void note(size_t size) { counts[1]++; counts[2] += size; }
    void *malloc(size_t size) { note(size); return __libc_malloc(size); }
    void *calloc(size_t count, size_t size) { note(count * size); return __libc_calloc(count, size); }
    void *realloc(void *old, size_t size) { note(size); return __libc_realloc(old, size); }
    void *aligned_alloc(size_t to, size_t size) { note(size); return __libc_memalign(to, size); }
    int posix_memalign(void **result, size_t to, size_t size) {
      note(size);
      return (*result = __libc_memalign(to, size)) != NULL ? 0 : ENOMEM;
    }

    typedef int visitor(struct dl_phdr_info *, size_t, void *);
    int dl_iterate_phdr(visitor *visit, void *context) {
      static int (*loader)(visitor *, void *);
      if (loader == NULL) *(void **)&loader = dlsym(RTLD_NEXT, "dl_iterate_phdr");
      counts[0]++;
      return loader(visit, context);
    }
    """

  /// Time says little if others compute too. Known images and entries are left alone, so an answer makes no more calls
  /// of the loader and of the heap among many libraries than among few.
  @Test("Opening one and asking for its service costs the same at the end as at the beginning")
  func growth() throws {
    let workshop = try Self.workshop.get()
    let counter = try workshop.library("counter", Self.counter, "-ldl")
    let said = try Program.host(
      ["touch", "grow=crowd"], in: workshop,
      environment: ["LD_PRELOAD": counter, "SWIFT_DETERMINISTIC_HASHING": "1"])
    let figures = /(?:few|many): ([0-9]+) walks, ([0-9]+) allocations, ([0-9]+) bytes/
    let costs = try said.map { line in
      let found = try #require(line.wholeMatch(of: figures), "\(line)")
      return try [found.1, found.2, found.3].map { try #require(Int($0)) }
    }
    try #require(costs.count == 2, "\(said)")
    // One walk to see what is new, and one to copy it.
    #expect(costs[0][0] == 2)
    #expect(zip(costs[1], costs[0]).allSatisfy { $0 <= $1 }, "\(said)")
    #expect(costs[0].allSatisfy { $0 > 0 }, "nothing was counted")
  }
}
