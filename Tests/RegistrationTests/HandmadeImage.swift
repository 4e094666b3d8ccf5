import BinaryImage
import Foundation
import Registration
import Testing

/// An image made by hand, byte for byte: one mapping, whose sections are ranges of it.
/// Pointers are linked addresses, unless a test gives them another target.
struct HandmadeImage: Image {
  static let base: UInt64 = 0x1000

  var identity: ImageIdentity
  var bytes: [UInt8] = []
  var table: [Section] = []
  /// Targets that plain bytes cannot express, by the address of the slot.
  var targets: [UInt64: PointerValue.Target] = [:]
  /// Section indices whose bytes cannot be read.
  var unreadable: Set<Int> = []

  init(bits: Int = 64, byteOrder: ImageIdentity.ByteOrder = .little) {
    identity = ImageIdentity(
      path: "/tmp/libhand.so", format: .elf, bits: bits, byteOrder: byteOrder, machine: "x86_64",
      kind: .shared)
  }

  // MARK: Making

  /// Adds bytes to the mapping; returns their address.
  mutating func map(_ content: [UInt8]) -> UInt64 {
    while bytes.count % 8 != 0 { bytes.append(0) }
    defer { bytes += content }
    return Self.base + UInt64(bytes.count)
  }

  /// Adds a text and its NUL; returns its address.
  mutating func map(_ text: String) -> UInt64 { map(Array(text.utf8) + [0]) }

  /// Adds a section of these bytes.
  mutating func addSection(_ name: String, _ content: [UInt8]) {
    let address = map(content)
    table.append(
      Section(
        index: table.count, name: name, address: VirtualAddress(rawValue: address),
        offset: FileOffset(rawValue: address - Self.base), size: UInt64(content.count)))
  }

  /// Adds a section of pointers to these addresses.
  mutating func addSection(_ name: String, pointers: [UInt64], rest: [UInt8] = []) {
    addSection(name, pointers.flatMap { word($0, size: pointerSize) } + rest)
  }

  /// Returns an integer in the image's byte order.
  func word(_ value: UInt64, size: Int) -> [UInt8] {
    let little = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    return identity.byteOrder == .little ? little : little.reversed()
  }

  /// Returns a typed record of fields or around a raw text, padded with NUL to a multiple of 8.
  /// Its head can be wrong on purpose.
  func record(
    kind: UInt16 = 2, _ fields: [String] = [], text: [UInt8]? = nil, version: UInt16 = 1,
    size: UInt32? = nil, textOffset: UInt32 = 32, accessor: UInt64 = 0, context: UInt64 = 0
  ) -> [UInt8] {
    var padded = text ?? fields.flatMap { Array($0.utf8) + [0] }
    while padded.count % 8 != 0 { padded.append(0) }
    let pointers = [accessor, context].flatMap {
      word($0, size: pointerSize) + [UInt8](repeating: 0, count: 8 - pointerSize)
    }
    return word(UInt64(size ?? UInt32(32 + padded.count)), size: 4)
      + word(UInt64(version), size: 2) + word(UInt64(kind), size: 2) + word(0, size: 4)
      + word(UInt64(textOffset), size: 4) + pointers + padded
  }

  /// Scans an image with sections that `add` makes.
  static func scan(_ add: (inout HandmadeImage) -> Void) throws -> Scan {
    var image = HandmadeImage()
    add(&image)
    return try Scan(of: image)
  }

  /// Scans an image with these records in one section.
  static func scan(records: [UInt8]) throws -> Scan {
    try scan { $0.addSection("BeehiveRecords", records) }
  }

  // MARK: Image

  func sections(named name: String) throws(ImageError) -> [Section] {
    table.filter { $0.name == name }
  }

  func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    guard !unreadable.contains(section.index) else {
      throw ImageError(.noContents, image: identity.path, message: "has no bytes in this file")
    }
    return body(bytes.span.extracting(range(of: section)))
  }

  func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    let address = section.address.rawValue + offset
    let start = Int(address - Self.base)
    guard start + pointerSize <= range(of: section).upperBound else {
      throw ImageError(.truncated, image: identity.path, message: "the slot is cut off")
    }
    var raw: UInt64 = 0
    for index in 0..<pointerSize {
      let shift = identity.byteOrder == .little ? index : pointerSize - 1 - index
      raw |= UInt64(bytes[start + index]) << (8 * UInt64(shift))
    }
    let plain: PointerValue.Target = raw == 0 ? .null : .address(VirtualAddress(rawValue: raw))
    let target = targets[address] ?? plain
    return PointerValue(
      rawValue: raw, target: target, resolution: target == .null ? .none : .absolute)
  }

  func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    guard case .address(let address) = target, address.rawValue >= Self.base,
      address.rawValue - Self.base < UInt64(bytes.count)
    else { throw ImageError(.outOfImage, image: identity.path, message: "is not mapped") }
    let start = Int(address.rawValue - Self.base)
    // Sound: the bytes are only looked at inside the call, and no further than they go.
    let length: Int? = unsafe bytes[start...].withUnsafeBytes { rest in
      guard let base = rest.baseAddress,
        let end = unsafe memchr(base, 0, min(rest.count, limit + 1))
      else { return nil }
      return unsafe UnsafeRawPointer(end) - base
    }
    guard let length else {
      throw ImageError(.unterminated, image: identity.path, message: "no NUL")
    }
    return body(bytes.span.extracting(start..<start + length))
  }

  private func range(of section: Section) -> Range<Int> {
    let start = Int(section.address.rawValue - Self.base)
    return start..<(start + Int(section.size))
  }
}

/// The four shapes that a word can have in an image.
struct Shape: Sendable, CustomTestStringConvertible {
  var bits: Int
  var byteOrder: ImageIdentity.ByteOrder

  static let all = [
    Shape(bits: 64, byteOrder: .little), Shape(bits: 64, byteOrder: .big),
    Shape(bits: 32, byteOrder: .little), Shape(bits: 32, byteOrder: .big),
  ]

  var testDescription: String { "\(bits) bit, \(byteOrder) endian" }
  var image: HandmadeImage { HandmadeImage(bits: bits, byteOrder: byteOrder) }
}

/// A wrong entry between two right ones, and its rejection.
struct Fault: Sendable, CustomTestStringConvertible {
  var testDescription: String
  var section: String
  var reason: Rejection.Reason
  /// A part of the message.
  var message: String
  /// The name that the rejection has all the same.
  var name: String?
  /// Whether nothing after the entry is read.
  var stops: Bool
  /// The target of a pointer, if its bytes cannot express it.
  var target: PointerValue.Target?
  /// Makes the bytes of the entry.
  var make: @Sendable (inout HandmadeImage) -> [UInt8]

  init(
    _ description: String, _ reason: Rejection.Reason, _ message: String, name: String? = nil,
    stops: Bool = false, target: PointerValue.Target? = nil, section: String = "BeehiveRecords",
    make: @escaping @Sendable (inout HandmadeImage) -> [UInt8]
  ) {
    (testDescription, self.section, self.reason) = (description, section, reason)
    (self.message, self.name, self.stops) = (message, name, stops)
    (self.target, self.make) = (target, make)
  }

  /// Expects that the entry is rejected for its own reason, and that its neighbours are not rejected.
  func check() throws {
    var image = HandmadeImage()
    var good = image.record(["Good", "Fine"])
    if section != "BeehiveRecords" {
      let text = image.map(section == "BeehiveMods" ? "Good" : #"{"Good":"Fine"}"#)
      good = image.word(text, size: 8)
    }
    let bad = make(&image)
    image.addSection(section, good + bad + good)
    image.addSection(section, good)
    let place = image.table[0].address.rawValue + UInt64(good.count)
    image.targets[place] = target

    let scan = try Scan(of: image)

    #expect(scan.records.map(\.name) == ["Good"] + (stops ? [] : ["Good"]) + ["Good"])
    let rejection = try #require(scan.rejections.first)
    #expect(scan.rejections.count == 1)
    #expect(rejection.reason == reason)
    #expect(rejection.message.contains(message), "\(rejection.message)")
    #expect(rejection.name == name)
    #expect(rejection.origin.section == section)
    #expect(rejection.origin.index == 1)
    #expect(rejection.origin.address.rawValue == place)
    #expect(rejection.message.contains("stops here") == stops)
  }
}
