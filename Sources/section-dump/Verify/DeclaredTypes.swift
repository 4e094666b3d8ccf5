internal import BinaryImage

/// The Swift types, or the protocols, that files declare, by the names that the runtime would find
/// them under.
///
/// The tables that the runtime reads are in every linked image, stripped or not. Those of objects wait
/// for relocations that only a linker applies, so of them nothing is known.
struct DeclaredTypes: Codable {
  /// The sections that list types, and those that list protocols, in files of each format.
  static let types: [ImageIdentity.Format: String] =
    [.elf: "swift5_type_metadata", .macho: "__swift5_types"]
  static let protocols: [ImageIdentity.Format: String] =
    [.elf: "swift5_protocols", .macho: "__swift5_protos"]

  /// Whether a file has types that could not be read, so that a name that is not here may be there.
  private(set) var isIncomplete = false

  /// The names from the module on, by the last one; from an inner one on where what encloses a type
  /// is not known, since another image has it.
  private var paths: [String: Set<Path>] = [:]

  private struct Path: Hashable, Codable {
    var names: [String]
    var isWhole: Bool
  }

  /// Whether nothing is known, and nothing is missing.
  var isEmpty: Bool { paths.isEmpty && !isIncomplete }

  /// The names that begin with a module, sorted.
  var wholeNames: [[String]] {
    paths.values.joined().filter(\.isWhole).map(\.names)
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  mutating func add(_ other: DeclaredTypes) {
    isIncomplete = isIncomplete || other.isIncomplete
    paths.merge(other.paths) { $0.union($1) }
  }

  /// Adds what sections of an image list; what cannot be read makes the set incomplete.
  mutating func add(_ names: [ImageIdentity.Format: String], of image: any FileImage) {
    guard let name = names[image.identity.format] else { return }
    do throws(ImageError) {
      for section in try image.sections(named: name) where section.size > 0 {
        guard image.identity.kind != .object else {
          isIncomplete = true
          return
        }
        try add(section, of: image)
      }
    } catch {
      isIncomplete = true
    }
  }

  private mutating func add(_ section: Section, of image: any FileImage) throws(ImageError) {
    guard section.size <= Self.mostBytes else {
      isIncomplete = true
      return
    }
    let reader = TypeReader(image: image)
    for offset in stride(from: 0, to: section.size & ~3, by: 4) {
      let record = section.address.rawValue &+ offset
      // The lowest bits say what is led to; other kinds lead to what another image declares.
      let (target, kind) = try reader.relative(at: record)
      guard kind == 0, let (names, isWhole) = try reader.path(of: target) else { continue }
      guard let last = names.last else { continue }
      paths[last, default: []].insert(Path(names: names, isWhole: isWhole))
    }
  }

  /// Whether a type answers to a written name, which may begin with any of a type's names.
  func has(_ written: String) -> Bool {
    guard let wanted = Self.names(in: written), let last = wanted.last else { return false }
    return paths[last, default: []].contains { path in
      let count = path.isWhole ? wanted.count : min(wanted.count, path.names.count)
      return path.names.suffix(count).elementsEqual(wanted.suffix(count))
    }
  }

  /// More than any library has; a section that is larger is not what it seems to be.
  private static let mostBytes: UInt64 = 1 << 20

  /// `Cache<Key, Value>.Item` is `Cache` and `Item`; nil where a part has no name.
  static func names(in written: String) -> [String]? {
    var names = [""]
    var depth = 0
    for character in written where character != "`" && !character.isWhitespace {
      switch character {
      case "<": depth += 1
      case ">": depth -= 1
      case _ where depth > 0: break
      case ".": names.append("")
      default: names[names.count - 1].append(character)
      }
    }
    return names.contains("") || depth != 0 ? nil : names
  }
}

/// Reads what the compiler wrote of types: `ContextDescriptor` in `BeeHive` does so in memory.
private struct TypeReader {
  let image: any FileImage

  /// What a relative pointer leads to, and those of its bits that are no part of the distance.
  func relative(
    at address: UInt64, flags: UInt32 = 3
  ) throws(ImageError) -> (target: UInt64, bits: UInt32) {
    let word = try word(at: address)
    let distance = Int64(Int32(bitPattern: word & ~flags))
    let target = address &+ UInt64(bitPattern: distance)
    return (image.identity.bits == 32 ? target & 0xffff_ffff : target, word & flags)
  }

  /// The names that lead to a declaration, and whether they begin with its module; nil where nobody
  /// can write them, since it is private or inside a function.
  func path(of descriptor: UInt64) throws(ImageError) -> (names: [String], isWhole: Bool)? {
    var names: [String] = []
    var context = descriptor
    // Nobody nests types as deep as this; a file that does is not what it seems to be.
    for depth in 0..<64 {
      switch (try word(at: context) & 0x1f, depth) {
      case (0, 1...):
        names.append(try name(at: context))
        return (names.reversed(), true)
      case (16...18, _), (3, _): names.append(try name(at: context))
      case (1, 1...):
        guard let extended = try extended(by: context) else { return (names.reversed(), false) }
        context = extended
        continue
      default: return nil
      }
      let (parent, bits) = try relative(at: context &+ 4)
      if bits != 0 { return (names.reversed(), false) }
      context = parent
    }
    return nil
  }

  private func name(at descriptor: UInt64) throws(ImageError) -> String {
    // Texts are anywhere: no bit of the distance is free.
    let address = VirtualAddress(rawValue: try relative(at: descriptor &+ 8, flags: 0).target)
    return try image.withText(at: .address(address), limit: 1 << 12) { String(decoding: $0) }
  }

  /// The type that an extension of this image's own type extends; nil for another image's.
  private func extended(by descriptor: UInt64) throws(ImageError) -> UInt64? {
    let mangled = try relative(at: descriptor &+ 8, flags: 0).target
    let head = try image.bytes(at: VirtualAddress(rawValue: mangled), count: 6)
    // A symbolic reference to a descriptor, and nothing behind it.
    guard head[0] == 1, head[5] == 0 else { return nil }
    return try relative(at: mangled &+ 1, flags: 0).target
  }

  private func word(at address: UInt64) throws(ImageError) -> UInt32 {
    let bytes = try image.bytes(at: VirtualAddress(rawValue: address), count: 4)
    return UInt32(truncatingIfNeeded: image.identity.byteOrder.number(of: bytes[...]))
  }
}
