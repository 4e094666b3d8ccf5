package import BinaryImage

/// What an image declares by address, looked at before it is read or called.
///
/// An address that leads outside every image, or to where the image has no code or no data, is a fault of
/// the record and becomes a problem. One that leads to other code or data of an image is its author's:
/// that cannot be told.
package enum ForeignMemory: Sendable {
  /// An image has declared it.
  case image
  /// The host has registered it, which may keep it anywhere.
  case host

  /// The head that every structure of a C author begins with, and the version that this reader knows.
  private struct Head {
    var size: UInt32
    var version: UInt32
  }
  private static let version: UInt32 = 1

  /// Returns whether an address leads to code of an image.
  package func holdsCode(_ address: RuntimeAddress) -> Bool {
    self == .host || LoadedSegment(holding: address)?.isExecutable == true
  }

  /// Whether so many bytes of one image can be read from an address on.
  package func holdsData(_ address: RuntimeAddress, size: Int) -> Bool {
    (0...readable(from: address)).contains(size)
  }

  /// How many bytes can be read from an address on, to the end of its segment.
  private func readable(from address: RuntimeAddress) -> Int {
    if self == .host { return .max }
    guard let segment = LoadedSegment(holding: address), segment.isReadable else { return 0 }
    return Int(segment.addresses.upperBound.rawValue - address.rawValue)
  }

  /// Reads a structure of C that begins with its size and its version; bytes that a longer one has are
  /// not looked at.
  ///
  /// The image has to stay mapped meanwhile. `Structure` is one of the `beehive_…` structures, of which
  /// every bit pattern is a value.
  package func structure<Structure>(
    _ type: Structure.Type, at address: RuntimeAddress
  ) -> Result<Structure, Problem> {
    let needed = MemoryLayout<Structure>.size
    guard address.rawValue % UInt(MemoryLayout<Structure>.alignment) == 0,
      holdsData(address, size: MemoryLayout<Head>.size),
      let pointer = unsafe UnsafeRawPointer(bitPattern: address.rawValue)
    else { return .failure(.noContext) }
    let head = unsafe pointer.load(as: Head.self)
    guard head.version == Self.version else { return .failure(.unknownStructure(head.version)) }
    guard head.size >= needed else { return .failure(.badContext(head.size, needed)) }
    guard holdsData(address, size: needed) else { return .failure(.noContext) }
    return unsafe .success(pointer.load(as: Structure.self))
  }

  /// The text at an address; nil where none can be read, or where it does not end.
  package func text(at address: RuntimeAddress) -> String? {
    let limit = readable(from: address)
    guard let start = unsafe UnsafePointer<UInt8>(bitPattern: address.rawValue) else { return nil }
    // Sound: so many bytes are mapped, or it is the host's own text.
    var count = 0
    while count < limit, unsafe start[count] != 0 { count += 1 }
    guard count < limit else { return nil }
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

extension RegisteredEntry {
  /// Where its target may be.
  var memory: ForeignMemory { image == nil ? .host : .image }
}

extension Problem {
  static let noContext = Problem(
    .badContext, "the record leads to no structure, or to one without a table; fix its context")

  static func badContext(_ found: UInt32, _ needed: Int) -> Problem {
    Problem(
      .badContext,
      "the record's structure says \(found) bytes where \(needed) are needed; rebuild with BeeHive.h"
    )
  }

  fileprivate static func unknownStructure(_ version: UInt32) -> Problem {
    Problem(
      .badContext,
      "the record's structure is of version \(version), this host knows 1; build the image and its "
        + "host with the same BeeHive")
  }

  /// A function that is none; `what` says whose.
  package static func noCode(_ what: String, at address: RuntimeAddress) -> Problem {
    Problem(
      .badCode,
      "\(what) is to be at 0x\(String(address.rawValue, radix: 16)), where no loaded image has code; "
        + "fix the record")
  }

  /// A table that is none.
  package static func noData(_ what: String, at address: RuntimeAddress, size: Int) -> Problem {
    Problem(
      .badContext,
      "\(what) is to be \(UInt(bitPattern: size)) bytes at 0x\(String(address.rawValue, radix: 16)), which no loaded "
        + "image has; fix the record")
  }
}
