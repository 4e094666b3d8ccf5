internal import BinaryImage
internal import CSwiftRuntime
internal import Registration
internal import SwiftMetadata
internal import Threads

/// Finds the Swift type that a written name means, among all that the process has loaded.
///
/// A name may start at any component: `Shop.Cart.Item`, `Cart.Item` and `Item` all find the type, unless a shorter form
/// fits several. Finds classes, actors, structs and enums, and protocols as existential types, public or internal,
/// nested or in extensions. Does not find private types (no name outside their file), generic types (no types without
/// arguments), `~Copyable` types (`Any` cannot hold them) and type aliases (no trace in an image).
enum TypeLookup {
  /// The meaning of a name.
  enum Answer: Sendable {
    /// The one type of this name.
    case found(any Any.Type)
    /// The name fits several types; their qualified names, sorted.
    case ambiguous([String])
    /// No loaded image declares it; one that is loaded later may.
    case unknown
    /// It is generic; only a factory can choose its arguments.
    case generic(String)
    /// The text is not the name of a nominal type: a composition, a tuple, an empty part.
    case malformed
  }

  /// The number of Swift images that have registered.
  ///
  /// While it stays the same, a name that was not found is still not found.
  static var generation: Int { SwiftImage.count }

  /// Returns the type that `name` means.
  ///
  /// If several images hold a type of this qualified name, takes the type of the image at `bias`, which names it:
  /// another build of that image may be loaded. Otherwise takes the type that was loaded first, as the runtime would.
  static func type(named name: TypeName, by bias: LoadBias? = nil) -> Answer {
    guard let last = name.last else { return .malformed }
    let declarations = find { $0.declarations(named: last) }
    // Most names in lookups at start-up have no type; they must cost next to nothing.
    guard !declarations.isEmpty else { return .unknown }
    guard let path = name.path else { return .malformed }
    // No lock is held from here on: the runtime gives paths and metadata.
    let matches = matches(declarations, path)
    let usable = matches.filter { !$0.declaration.descriptor.isGeneric }
    guard let first = usable.first else {
      return matches.first.map { .generic($0.path.joined(separator: ".")) } ?? .unknown
    }
    let names = Set(usable.map { $0.path.joined(separator: ".") })
    guard names.count == 1 else { return .ambiguous(names.sorted()) }
    let own = usable.first { $0.declaration.image == bias.map { UInt($0.rawValue) } }
    return type((own ?? first).declaration.descriptor).map(Answer.found) ?? .unknown
  }

  /// Returns the parts of a composition. Returns nil if the name is not a composition, or if lookups by
  /// `(any A & B).self` do not find it: a part is not a type, or only some of the parts are qualified.
  static func parts(ofComposition name: TypeName) -> [any Any.Type]? {
    let written = name.composed
    let parts = written.compactMap { part -> (any Any.Type)? in
      if case .found(let type) = type(named: part) { type } else { nil }
    }
    guard parts.count > 1, parts.count == written.count else { return nil }
    let spellings = parts.map { TypeSpelling.of($0) }
    let whole = [spellings.map(\.qualified), spellings.map(\.unqualified)]
      .map { TypeName($0.joined(separator: " & ")) }
    return whole.contains(name) ? parts : nil
  }

  /// Returns the images that have a copy of a type or protocol, and the remedy, as the end of a sentence; empty if
  /// there is at most one.
  ///
  /// Each copy is a type of its own, and an instance of one copy does not serve as another. It happens if a module is
  /// linked into several images. Asks the loader: call it with no lock held, and only to explain a failure.
  static func remark(onCopiesOf type: any Any.Type) -> String {
    let name = TypeName(TypeSpelling.of(type).qualified)
    guard let last = name.last, let path = name.path else { return "" }
    var images: [String] = []
    for match in matches(find { $0.declarations(named: last) }, path)
    where match.path == path {
      let image =
        RuntimeAddress(rawValue: match.declaration.image).imagePath ?? "an image that is gone"
      if !images.contains(image) { images.append(image) }
    }
    guard images.count > 1 else { return "" }
    return "; \(images.joined(separator: " and ")) each have a \(name) of their own, so these are "
      + "different types: put the module \(path[0]) into one dynamic library that all of them link"
  }

  /// Returns full names of types that could serve and whose last component resembles that of a wanted name. Goes
  /// through the types of the process once, if anything is wanted.
  static func similar(
    to wanted: [(name: TypeName, canServe: (any Any.Type) -> Bool)]
  ) -> [[String]] {
    if wanted.isEmpty { return [] }
    let types = find(\.descriptors).filter { !$0.isGeneric }.map { ($0, $0.name) }
    return wanted.map { name, canServe in
      guard let wanted = name.last.map(String.init) else { return [] }
      let near = types.filter { _, last in
        last.map { $0 == wanted || !nearest(to: wanted, in: [$0]).isEmpty } ?? false
      }
      // The runtime gives paths, with no lock held.
      let serving = near.filter { type($0.0).map(canServe) == true }
      let paths = serving.compactMap { $0.0.path?.joined(separator: ".") }
      return nearest(to: name.text, in: paths, atMost: .max)
    }
  }

  /// The index of the process.
  private static let index = Lock(TypeIndex())

  /// Brings the index up to date, and returns the result of `body` over it.
  private static func find<Result>(_ body: (TypeIndex) -> Result) -> Result {
    let known = index.withLock { $0.imageCount }
    if known < generation {
      // Asked outside the lock; other threads may add the same images meanwhile.
      let new = SwiftImage.all(from: known)
      index.withLock { index in
        for image in new.dropFirst(index.imageCount - known) { index.add(image) }
      }
    }
    return index.withLock { body($0) }
  }

  /// Returns the declarations whose path ends in this one, with their whole paths.
  private static func matches(
    _ declarations: [TypeIndex.Declaration], _ path: [String]
  ) -> [(declaration: TypeIndex.Declaration, path: [String])] {
    let found = declarations.compactMap { declaration in
      declaration.descriptor.path.map { (declaration: declaration, path: $0) }
    }
    // A whole name means exactly that name, whatever else it may be a part of.
    let whole = found.filter { $0.path == path }
    return whole.isEmpty ? found.filter { $0.path.suffix(path.count) == path[...] } : whole
  }

  /// Returns the type of a descriptor that is not generic.
  static func type(_ descriptor: ContextDescriptor) -> (any Any.Type)? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: descriptor.address) else { return nil }
    let metadata =
      if descriptor.flags.kind == .protocol {
        unsafe beehive_swift_existential(pointer, descriptor.flags.isClassBound)
      } else {
        unsafe beehive_swift_type(pointer)
      }
    return unsafe metadata.map { unsafe ProcessMemory().type($0) }
  }
}

/// The named types and protocols of Swift images, by the last component of their name.
///
/// Takes 24 bytes for each descriptor, and no text. Adding an image reads its tables and calls nothing, so it may
/// happen under a lock.
struct TypeIndex: Sendable {
  /// A declaration, the first mapped byte of its image, and the position of the last declaration before it whose name
  /// has the same hash; -1 for none.
  typealias Declaration = (descriptor: ContextDescriptor, image: UInt, previous: Int32)

  /// The number of images that were added.
  private(set) var imageCount = 0
  private var declarations: [Declaration] = []
  /// The position of the last declaration whose name has this hash.
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

  /// Returns the declarations whose last component is `name`, in the order of registration.
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

  /// Passes the declarations whose names have the hash of this one to `body`, the last one first.
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

/// An image that registered itself with the Swift runtime, and the bounds of its tables.
typealias SwiftImage = beehive_swift_image

extension SwiftImage {
  /// The number of Swift images in the process.
  ///
  /// The number only grows. While it is the same, no type arrived.
  static var count: Int { beehive_swift_images(nil, 0, 0) }

  /// Returns the Swift images from an index on, in order of registration.
  static func all(from first: Int) -> [SwiftImage] {
    let capacity = count - first
    guard capacity > 0 else { return [] }
    // Sound: the runtime's list only grows, so at least `capacity` elements are stored, and no more.
    return unsafe [SwiftImage](unsafeUninitializedCapacity: capacity) { buffer, filled in
      _ = unsafe beehive_swift_images(buffer.baseAddress, first, capacity)
      filled = capacity
    }
  }

  /// Passes the classes, structs, enums and protocols that `Any` can hold to `body`, with the bytes of their names.
  func forEachDescriptor(_ body: (ContextDescriptor, UnsafeRawBufferPointer) -> Void) {
    unsafe ContextDescriptor.forEach(inTypes: types.records, protocols: protocols.records, body)
  }
}

extension beehive_swift_table {
  /// The bytes of whole records, which are 32-bit relative pointers; empty if the bounds contradict themselves.
  var records: Range<UInt> {
    let size = UInt(bitPattern: length) & ~3
    guard start != 0, start % 4 == 0, size <= UInt.max - start else { return 0..<0 }
    return start..<(start + size)
  }
}

extension ContextDescriptor {
  /// Whether metadata takes generic arguments: of the type itself or of a type around it.
  var isGeneric: Bool { flags.isGeneric }

  /// The names from the module to this declaration; nil if an author could not write them all.
  ///
  /// That is the case inside private declarations and functions. Inside an extension, the names
  /// are those of the extended type; finding it may call into the Swift runtime.
  var path: [String]? { path { TypeName(TypeSpelling.of($0).qualified).path } }
}

/// The names that a record may have for a known type: the texts that `TypeName` makes of them.
struct TypeSpelling: Hashable, Sendable {
  /// `Shop.Greeter`, `Shop.Cart.Item`, `Shop.Cache<Swift.Int, Shop.Value>`.
  let qualified: String
  /// `Greeter`, `Item`, `Cache<Int, Value>`.
  let unqualified: String
  /// The names that a record may have for the type, the longest first, each once.
  ///
  /// `Shop.Cart.Item`, `Cart.Item`, `Item`; the arguments of a generic type are part of both forms.
  let all: [String]

  /// Returns the spelling of a type. Asks the runtime once and remembers the answer.
  ///
  /// Existential types are named without `any`, private types without the file they are private to.
  static func of(_ type: any Any.Type) -> Self {
    // A type lives as long as the process, so its identity is a key.
    let key = ObjectIdentifier(type)
    if let spelling = known.withLock({ $0[key] }) { return spelling }
    // Outside the lock: two threads may both ask, and get the same answer.
    let spelling = TypeSpelling(type)
    known.withLock { $0[key] = spelling }
    return spelling
  }

  private static let known = Lock<[ObjectIdentifier: TypeSpelling]>([:])

  private init(_ type: any Any.Type) {
    let whole = TypeName(printed: _typeName(type, qualified: true))
    qualified = whole.text
    unqualified = TypeName(printed: _typeName(type, qualified: false)).text
    var forms = [whole.text]
    // If the arguments are qualified, authors inside the module write them short.
    let shorter = whole.withShortArguments.suffixes + whole.suffixes + [unqualified]
    for form in shorter where !forms.contains(form) { forms.append(form) }
    all = forms
  }
}

/// Returns the name that a symbol of Swift has in its source; nil for any other symbol.
func swiftName(ofSymbol symbol: String) -> String? {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1 << 10) { room in
    // Sound: the runtime writes at most as many bytes, with the NUL.
    guard let name = room.baseAddress,
      unsafe beehive_swift_name(symbol, name, room.count)
    else { return nil }
    return unsafe String(cString: name)
  }
}
