import BinaryImage
import Foundation
import ObjectFiles
import Testing

/// Expects `body` to throw an `ImageError` of that code, with a text in its message.
func expectError<Value>(
  _ code: ImageError.Code, saying text: String = "",
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Value
) {
  do {
    let value = try body()
    Issue.record("\(code.rawValue) was expected, not \(value)", sourceLocation: sourceLocation)
  } catch {
    let error = error as? ImageError
    #expect(error?.code == code, sourceLocation: sourceLocation)
    #expect(text.isEmpty || error?.message.contains(text) == true, sourceLocation: sourceLocation)
  }
}

extension Array where Element == UInt8 {
  /// Copies the bytes of a span.
  init(copying span: Span<UInt8>) { self = (0..<span.count).map { span[$0] } }
}

extension ImageFile {
  /// Opens the file at a text path. Errors and the identity call it `name`, or the path if there is no name.
  static func open(_ path: String, name: String? = nil) throws(ImageError) -> any FileImage {
    try open(OpenedFile(path: path, name: name ?? path))
  }
}

extension FileImage {
  /// Opens a file of these bytes.
  init(bytes: [UInt8]) throws {
    try self.init(path: Fixture.write(bytes, as: "bytes-\(UUID().uuidString)"))
  }
}

extension Image {
  /// Returns the first section of that name.
  func section(_ name: String) throws -> Section { try #require(sections(named: name).first) }

  func bytes(of section: Section) throws(ImageError) -> [UInt8] {
    try withBytes(of: section) { Array(copying: $0) }
  }

  /// Returns the pointer in one word of the first section of that name.
  func pointer(_ index: Int = 0, of name: String) throws -> PointerValue {
    try pointer(at: UInt64(index * pointerSize), in: section(name))
  }

  /// Returns every word of the sections of that name.
  func pointers(of name: String) throws -> [PointerValue] {
    try sections(named: name).flatMap { section in
      try stride(from: 0, to: section.size, by: pointerSize).map {
        try pointer(at: $0, in: section)
      }
    }
  }

  func text(at target: PointerValue.Target, limit: Int = 65536) throws(ImageError) -> String {
    try withText(at: target, limit: limit) { String(decoding: Array(copying: $0), as: UTF8.self) }
  }

  /// Returns every non-null word of the sections of that name, with the text at its target.
  func texts(of name: String) throws -> [(pointer: PointerValue, text: String)] {
    try pointers(of: name).filter { $0.target != .null }.map { ($0, try text(at: $0.target)) }
  }

  /// Returns the texts that the words of these sections lead to, sorted; errors as their code.
  func texts(in name: String) throws -> [String] {
    try sections(named: name).flatMap { section in
      stride(from: 0, to: section.size, by: pointerSize).map { offset in
        do throws(ImageError) {
          return try text(at: pointer(at: offset, in: section).target)
        } catch {
          return error.code.rawValue
        }
      }
    }.sorted()
  }

  /// Returns the text of each slot; empty if it has none.
  func textsOfSlots(in section: Section) throws -> [String] {
    var texts: [String] = []
    _ = try forEachSlot(of: section, limit: 64) { _, _, text in
      var copy: [UInt8] = []
      if let text { copy = Array(copying: text) }
      texts.append(String(decoding: copy, as: UTF8.self))
      return true
    }
    return texts
  }
}
