import BinaryImage
import Foundation
import PluginFiles
import SwiftContracts
import SwiftMetadata
import TestSupport
import Testing

/// Every word of the compiler's tables may have any value.
@Suite("Swift metadata that somebody has damaged", .needs("swiftc"))
struct DamagedMetadataTests {
  private static let sources = Result {
    var builds = try ContractBuilds()
    let protocols = [false, true].map { Build(change: .defaulted, isResilient: $0) }
    return try (protocols + [Build(isClass: true)]).map { build in
      [try builds.library(build), try builds.plugin(build, isStripped: false)]
    }.joined().map { try Data(contentsOf: $0) }
  }

  /// Returns the ranges of a file with the tables and the data that they lead to.
  private static func places(of file: ELFFile) throws -> [Range<Int>] {
    try file.allSections().compactMap { section in
      let isRead =
        section.name.hasPrefix("swift5_")
        || [".data.rel.ro", ".data", ".rodata", ".got"].contains(section.name)
      guard isRead, let offset = section.offset?.rawValue, section.size >= 4 else { return nil }
      return Int(offset)..<Int(offset + section.size)
    }
  }

  /// Reads all metadata of a file. Returns the error, if there is one.
  private static func read(_ path: String) throws -> ImageError? {
    let file = try ELFFile(OpenedFile(path: path))
    do throws(ImageError) {
      let library = try ContractLibrary(of: file)
      _ = ContractDrift.all(of: try ContractExpectations(of: file), against: library)
      try FileTables(of: file)?.forEachPath(in: .types) { _, _ in }
      return nil
    } catch {
      return error
    }
  }

  @Test("is read to its end or refused, and never for long", arguments: 0..<6)
  func words(index: Int) throws {
    let folder = try Folder()
    let original = try Self.sources.get()[index]
    let path = try folder.write(original, as: "whole.so").path
    #expect(try Self.read(path) == nil)
    let places = try Self.places(of: ELFFile(OpenedFile(path: path)))
    try #require(!places.isEmpty)
    var generator = SeededGenerator(seed: UInt64(index))
    var refused = 0
    for _ in 0..<Effort.times(80, full: 20_000) {
      var bytes = original
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = places.randomElement(using: &generator) ?? 0..<4
        let start = Int.random(in: place.lowerBound...place.upperBound - 4, using: &generator) & ~3
        let word =
          [0, 1, 2, .max, 0x8000_0000, UInt32.random(in: 0...UInt32.max, using: &generator)]
          .randomElement(using: &generator) ?? 0
        for shift in 0..<4 { bytes[start + shift] = UInt8(truncatingIfNeeded: word >> (8 * shift)) }
      }
      if try Self.read(folder.write(bytes, as: "damaged.so").path) != nil { refused += 1 }
    }
    #expect(refused > 0)
  }

  @Test("that claims requirements and witnesses without end is refused")
  func counts() throws {
    let folder = try Folder()
    let original = try Self.sources.get()[0]
    let path = try folder.write(original, as: "whole.so").path
    let file = try ELFFile(OpenedFile(path: path))
    var descriptor: UInt64 = 0
    try FileTables(of: file)?.forEachPath(in: .protocols) { _, address in descriptor = address }
    let section = try #require(
      try file.allSections().first {
        $0.address.rawValue <= descriptor && descriptor < $0.address.rawValue + $0.size
      })
    let place = Int(descriptor - section.address.rawValue + (section.offset?.rawValue ?? 0)) + 16
    var bytes = original
    for index in place..<place + 4 { bytes[index] = 0xff }
    let error = try Self.read(folder.write(bytes, as: "endless.so").path)
    #expect(
      error?.code == .outOfImage || error?.code == .malformed, "\(error?.message ?? "nothing")")
  }

  @Test("that leads from each of many types through long names is given up")
  func names() throws {
    let folder = try Folder()
    let types = (0..<60).map { index in
      "type\(index): .long 0x51, type\(index + 1) - (type\(index) + 4), name - (type\(index) + 8)"
    }
    try Compiler.compile(
      """
      .section swift5_type_metadata, "a"
      .balign 4
      .rept 200000
      .long type0 - .
      .endr
      .section .rodata, "a"
      .balign 4
      \(types.joined(separator: "\n"))
      type60: .long 0, 0, name - (type60 + 8)
      name: .fill 4000, 1, 97
      .byte 0
      .section .note.GNU-stack, "", %progbits
      """, suffix: "s", as: "names.so", in: folder.url, ["-shared", "-nostdlib"])
    let error = try Self.read(folder.place("names.so").path)
    #expect(error?.message.contains("leads to the same bytes again and again") == true)
  }
}
