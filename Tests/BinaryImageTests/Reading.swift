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
  /// The bytes of a span, to keep.
  init(copying span: Span<UInt8>) { self = (0..<span.count).map { span[$0] } }
}

extension ImageFile {
  /// Opens the file at a path that is text; errors and the identity call it `name`, or else the path.
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
  /// The section of that name, of several the first.
  func section(_ name: String) throws -> Section { try #require(sections(named: name).first) }

  /// The bytes of a section.
  func bytes(of section: Section) throws(ImageError) -> [UInt8] {
    try withBytes(of: section) { Array(copying: $0) }
  }

  /// The pointer in one word of the section of that name.
  func pointer(_ index: Int = 0, of name: String) throws -> PointerValue {
    try pointer(at: UInt64(index * pointerSize), in: section(name))
  }

  /// Every word of the sections of that name.
  func pointers(of name: String) throws -> [PointerValue] {
    try sections(named: name).flatMap { section in
      try stride(from: 0, to: section.size, by: pointerSize).map {
        try pointer(at: $0, in: section)
      }
    }
  }

  /// The text at a target.
  func text(at target: PointerValue.Target, limit: Int = 65536) throws(ImageError) -> String {
    try withText(at: target, limit: limit) { String(decoding: Array(copying: $0), as: UTF8.self) }
  }

  /// Every word of the sections of that name that is not null, and the text that it leads to.
  func texts(of name: String) throws -> [(pointer: PointerValue, text: String)] {
    try pointers(of: name).filter { $0.target != .null }.map { ($0, try text(at: $0.target)) }
  }

  /// The texts that the words of the sections of this name lead to, sorted; errors as their code.
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

  /// The text of each slot; empty where it has none.
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
