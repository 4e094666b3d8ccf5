import Foundation
import TestSupport
import Testing

/// Whether an image has put metadata into Swift's runtime is read from its symbols in memory, where
/// nobody has checked anything. The code runs here on tables made by hand, with an instrument that ends
/// it at the first read that C does not define.
@Suite("Symbols of a loaded image that look for Swift's runtime")
struct SwiftSymbolsTests {
  /// Where the tables stand, in bytes behind a multiple of eight, and what the image needs.
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var symbols = 0
    var hash = 0
    var strings = 0
    var function = "swift_addNewDSOImage"
    /// How many symbols the table is said to have, of two.
    var count: UInt32 = 2
    var carries = true
  }

  static let rows =
    [Row(testDescription: "aligned")]
    + (1...7).map { Row(testDescription: "symbols off by \($0)", symbols: $0) }
    + (1...3).map { Row(testDescription: "a hash table off by \($0)", hash: $0) }
    + [
      Row(testDescription: "everything off", symbols: 5, hash: 3, strings: 1),
      Row(
        testDescription: "another function", symbols: 4, function: "swift_addNewDSOImages",
        carries: false),
      Row(testDescription: "no symbol", symbols: 4, count: 1, carries: false),
      Row(testDescription: "more symbols than there are bytes", symbols: 4, count: .max),
      Row(
        testDescription: "more, and none that counts", symbols: 4, function: "other", count: .max,
        carries: false),
    ]

  /// Takes what a row says, and answers 1 where the image carries Swift.
  private static let program = Result {
    let headers = Repository.place("CSupport/CImageList").path
    return try Fixture.compile(
      #"""
      #define _GNU_SOURCE
      #include "CImageList.h"
      #include <link.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>

      int main(int count, char **row) {
        size_t size = 1024;
        unsigned char *memory = aligned_alloc(64, size);
        if (count != 6 || memory == NULL) return 2;
        memset(memory, 0, size);
        unsigned char *hash = memory + 256 + atoi(row[2]);
        unsigned char *strings = memory + 512 + atoi(row[3]);
        /* The symbols end where the image does. */
        unsigned char *symbols = memory + size - 8 - 2 * sizeof(ElfW(Sym)) + atoi(row[1]);
        ElfW(Sym) symbol = {.st_name = 1, .st_shndx = SHN_UNDEF};
        memcpy(symbols + sizeof symbol, &symbol, sizeof symbol);
        strcpy((char *)strings + 1, row[4]);
        uint32_t words[] = {1, (uint32_t)strtoul(row[5], NULL, 10)};
        memcpy(hash, words, sizeof words);
        ElfW(Dyn) dynamic[] = {{DT_STRTAB, {(uintptr_t)strings}},
                               {DT_SYMTAB, {(uintptr_t)symbols}},
                               {DT_GNU_HASH, {(uintptr_t)hash}},
                               {DT_NULL, {0}}};
        memcpy(memory, dynamic, sizeof dynamic);
        image_place place = {.lowest = (uintptr_t)memory,
                             .highest = (uintptr_t)memory + size,
                             .dynamic = (uintptr_t)memory};
        puts(image_carries_swift(&place) ? "carries" : "does not");
        free(memory);
        return 0;
      }
      """#, as: "swift-symbols",
      [
        "-O1", "-I", headers + "/include", headers + "/image_swift.c",
        "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
      ])
  }

  @Test(arguments: rows)
  func reads(row: Row) throws {
    do {
      _ = try Self.program.get()
    } catch let outcome as Outcome where outcome.errors.contains(/cannot find .*san/) {
      // Some systems have the compiler without what instruments need.
      try Test.cancel("libasan is not installed")
    }
    let words = [row.symbols, row.hash, row.strings].map(String.init)
    let output = try Fixture.run(
      Self.program.get(), words + [row.function, "\(row.count)"])
    #expect(output == (row.carries ? "carries\n" : "does not\n"))
  }
}
