internal import CSwiftRuntime
internal import SwiftMetadata

/// The named types and protocols of Swift images, by the last component of their name.
///
/// Only remembers where descriptors lie: 24 bytes for each, and no text. Adding an image reads its
/// tables and calls nothing, so it may happen under a lock.
struct TypeIndex: Sendable {
  /// One declaration, the first mapped byte of the image that declares it, and the position of the declaration before
  /// it with a name of the same hash; -1 for none.
  typealias Declaration = (descriptor: ContextDescriptor, image: UInt, previous: Int32)

  /// How many images were added.
  private(set) var imageCount = 0
  private var declarations: [Declaration] = []
  /// The position of the last one with a name of this hash.
  private var last: [UInt64: Int32] = [:]

  /// Adds the declarations of an image.
  mutating func add(_ image: SwiftImage) {
    imageCount += 1
    last.reserveCapacity(
      last.count + (image.types.records.count + image.protocols.records.count) / 4)
    unsafe image.forEachDescriptor { descriptor, name in
      let hash = unsafe Self.hash(name)
      let previous = last.updateValue(Int32(declarations.count), forKey: hash) ?? -1
      declarations.append((descriptor, image.base, previous))
    }
  }

  /// The declarations whose last component is `name`, in the order of registration.
  func declarations(named name: Substring) -> [Declaration] {
    var found: [Declaration] = []
    forEachCandidate(named: name) { declaration in
      let bytes = unsafe declaration.descriptor.nameBytes
      if unsafe bytes?.elementsEqual(name.utf8) == true { found.append(declaration) }
    }
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

/// An image that registered itself with the Swift runtime, and where its tables lie.
typealias SwiftImage = beehive_swift_image

extension SwiftImage {
  /// The number of Swift images in the process.
  ///
  /// The number only grows. While it is the same, no type arrived.
  static var count: Int { beehive_swift_images(nil, 0, 0) }

  /// The Swift images from an index on, in the order in which they registered.
  static func all(from first: Int) -> [SwiftImage] {
    let capacity = count - first
    guard capacity > 0 else { return [] }
    // Sound: the runtime's list only grows, so at least `capacity` elements are stored, and no more.
    return unsafe [SwiftImage](unsafeUninitializedCapacity: capacity) { buffer, filled in
      _ = unsafe beehive_swift_images(buffer.baseAddress, first, capacity)
      filled = capacity
    }
  }

  /// Passes over the image's classes, structs, enums and protocols that `Any` can hold, with the bytes of their names.
  func forEachDescriptor(_ body: (ContextDescriptor, UnsafeRawBufferPointer) -> Void) {
    unsafe ContextDescriptor.forEach(inTypes: types.records, protocols: protocols.records, body)
  }
}

extension beehive_swift_table {
  /// The bytes of whole records, which are 32-bit relative pointers; none where the bounds contradict themselves.
  var records: Range<UInt> {
    let size = UInt(bitPattern: length) & ~3
    guard start != 0, start % 4 == 0, size <= UInt.max - start else { return 0..<0 }
    return start..<(start + size)
  }
}

extension ContextDescriptor {
  /// Whether metadata takes generic arguments: of the type itself or of a type around it.
  var isGeneric: Bool { flags.isGeneric }

  /// The names from the module to this declaration; nil where an author could not write them all.
  ///
  /// That is the case inside private declarations and functions. Inside an extension, the names
  /// are those of the extended type; finding it may call into the Swift runtime.
  var path: [String]? { path { TypeName(TypeSpelling.of($0).qualified).path } }
}
