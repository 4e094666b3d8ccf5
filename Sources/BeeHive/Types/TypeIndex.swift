internal import CSwiftRuntime
internal import SwiftMetadata

/// The named types and protocols of Swift images, by the last component of their name.
///
/// Only remembers where descriptors lie: 24 bytes for each, and no text. Adding an image reads its
/// tables and calls nothing, so it may happen under a lock.
struct TypeIndex: Sendable {
  /// One declaration, and the image that declares it.
  struct Declaration: Sendable {
    let descriptor: ContextDescriptor
    /// The image's first mapped byte.
    let image: UInt
    /// The position of the one before it with a name of the same hash; -1 for none.
    fileprivate let previous: Int32
  }

  /// How many images were added.
  private(set) var imageCount = 0
  private var declarations: [Declaration] = []
  /// The position of the last one with a name of this hash.
  private var last: [UInt64: Int32] = [:]

  /// Adds the declarations of an image.
  mutating func add(_ image: SwiftImage) {
    imageCount += 1
    last.reserveCapacity(last.count + (image.types.count + image.protocols.count) / 4)
    unsafe image.forEachDescriptor { descriptor, name in
      let hash = unsafe Self.hash(name)
      let previous = last.updateValue(Int32(declarations.count), forKey: hash) ?? -1
      declarations.append(
        Declaration(descriptor: descriptor, image: image.base, previous: previous))
    }
  }

  /// The declarations whose last component is `name`, in the order of registration.
  func declarations(named name: Substring) -> [Declaration] {
    var found: [Declaration] = []
    forEachCandidate(named: name) { if $0.descriptor.isNamed(name) { found.append($0) } }
    return found.reversed()
  }

  /// Every declaration.
  var descriptors: [ContextDescriptor] { declarations.map(\.descriptor) }

  /// Passes over the declarations whose names have the hash of this one, the last one first.
  @inline(__always)
  func forEachCandidate(named name: Substring, _ body: (Declaration) -> Void) {
    var next = last[Self.hash(name.utf8)] ?? -1
    while next >= 0 {
      let declaration = declarations[Int(next)]
      body(declaration)
      next = declaration.previous
    }
  }

  // FNV-1a.
  private static func hash(_ name: some Sequence<UInt8>) -> UInt64 {
    name.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

/// An image that registered itself with the Swift runtime, and where its type tables lie.
struct SwiftImage: Hashable, Sendable {
  /// The image's first mapped byte.
  let base: UInt
  /// The table of types: 32-bit relative pointers to descriptors.
  let types: Range<UInt>
  /// The table of protocols, likewise.
  let protocols: Range<UInt>
  /// The table of conformances, likewise.
  let conformances: Range<UInt>

  /// The number of Swift images in the process.
  ///
  /// The number only grows. While it is the same, no type arrived.
  static var count: Int { beehive_swift_images(nil, 0, 0) }

  /// The Swift images from an index on, in the order in which they registered.
  static func all(from first: Int) -> [SwiftImage] {
    let capacity = count - first
    guard capacity > 0 else { return [] }
    // Sound: the runtime's list only grows, so at least `capacity` elements are stored, and no more.
    return unsafe [beehive_swift_image](unsafeUninitializedCapacity: capacity) { buffer, filled in
      _ = unsafe beehive_swift_images(buffer.baseAddress, first, capacity)
      filled = capacity
    }.map(SwiftImage.init)
  }

  /// Passes over the image's classes, structs, enums and protocols, with the bytes of their names.
  ///
  /// Left out are types that `Any` cannot hold, and records that lead nowhere or to something else.
  func forEachDescriptor(_ body: (ContextDescriptor, UnsafeRawBufferPointer) -> Void) {
    for record in stride(from: types.lowerBound, to: types.upperBound, by: 4) {
      if let found = unsafe ProcessTables.type(at: record) { unsafe add(found) }
    }
    for record in stride(from: protocols.lowerBound, to: protocols.upperBound, by: 4) {
      if let found = unsafe ProcessTables.protocol(at: record) { unsafe add(found) }
    }
    func add(_ found: ProcessTables.Named) {
      guard let descriptor = unsafe ContextDescriptor(at: found.descriptor) else { return }
      unsafe body(descriptor, found.name)
    }
  }

  private init(_ image: beehive_swift_image) {
    base = image.base
    types = Self.range(image.types)
    protocols = Self.range(image.protocols)
    conformances = Self.range(image.conformances)
  }

  /// Whole records only; nothing where the bounds contradict themselves.
  private static func range(_ table: beehive_swift_table) -> Range<UInt> {
    let (start, size) = (table.start, UInt(bitPattern: table.length) & ~3)
    guard start != 0, start % 4 == 0, size <= UInt.max - start else { return 0..<0 }
    return start..<(start + size)
  }
}
