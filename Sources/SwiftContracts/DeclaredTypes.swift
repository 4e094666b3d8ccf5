package import BinaryImage
package import Registration
package import SwiftMetadata

/// The Swift types, or the protocols, that files declare, by the names that the runtime would find
/// them under.
///
/// The tables that the runtime reads are in every linked image, stripped or not. The tables of objects wait for
/// relocations that only a linker applies, so nothing is known about objects.
package struct DeclaredTypes: Codable, Sendable {
  /// Whether a file has types that could not be read, so that a missing name may be there.
  package private(set) var isIncomplete = false

  /// The names from the module on, by the last one. They begin with an inner name if another image has what encloses
  /// the type.
  private var paths: [String: Set<DeclaredPath>] = [:]
  /// The own names of types that are private or in functions, which nothing finds.
  private var hidden: Set<String> = []

  /// No types.
  package init() {}

  /// Whether nothing is known, and nothing is missing.
  package var isEmpty: Bool { paths.isEmpty && !isIncomplete }

  /// The names that begin with a module, sorted.
  package var wholeNames: [[String]] {
    paths.values.joined().filter(\.isWhole).map(\.names)
      .sorted { $0.lexicographicallyPrecedes($1) }
  }

  /// Adds all of another set.
  package mutating func add(_ other: DeclaredTypes) {
    isIncomplete = isIncomplete || other.isIncomplete
    paths.merge(other.paths) { $0.union($1) }
    hidden.formUnion(other.hidden)
  }

  /// Adds what an image lists; what cannot be read makes the set incomplete.
  package mutating func add(_ list: FileTables.List, of image: any FileImage) {
    do throws(ImageError) {
      let tables = try FileTables([list], of: image)
      try tables?.forEachPath(in: list, hidden: { hidden.insert($0) }) { path, _ in
        if let last = path.names.last { paths[last, default: []].insert(path) }
      }
    } catch {
      isIncomplete = true
    }
  }

  /// Returns whether a type that nothing finds has the last part of a written name.
  package func hides(_ written: String) -> Bool {
    TypeName(written).path?.last.map { hidden.contains(String($0)) } ?? false
  }

  /// Returns whether a type answers to a written name, which may begin with any of a type's names.
  package func has(_ written: String) -> Bool {
    guard let wanted = TypeName(written).path, let last = wanted.last else { return false }
    return paths[last, default: []].contains { path in
      let count = path.isWhole ? wanted.count : min(wanted.count, path.names.count)
      return path.names.suffix(count).elementsEqual(wanted.suffix(count))
    }
  }
}

/// The protocols that Swift types of files conform to, and the classes that they extend.
package struct DeclaredConformances: Codable, Sendable {
  /// The protocols of a type, and its superclass.
  private struct Bases: Codable {
    var protocols: Set<String> = []
    /// The class that it extends; an empty name stands for an unknown class.
    var superclass: String?
  }

  /// Whether a file has conformances that could not be read.
  package private(set) var isIncomplete = false
  /// The bases of each type, by the type's last name, then by all its names.
  private var types: [String: [String: Bases]] = [:]
  /// The protocols, by the last name of each.
  private var protocols: [String: Set<String>] = [:]

  /// No conformances.
  package init() {}

  /// Adds all of another set.
  package mutating func add(_ other: Self) {
    isIncomplete = isIncomplete || other.isIncomplete
    protocols.merge(other.protocols) { $0.union($1) }
    types.merge(other.types) { types, others in
      types.merging(others) { one, other in
        Bases(
          protocols: one.protocols.union(other.protocols),
          superclass: one.superclass ?? other.superclass)
      }
    }
  }

  /// Adds what an image lists; what cannot be read makes the set incomplete.
  package mutating func add(of image: any FileImage) {
    do throws(ImageError) {
      guard let tables = try FileTables([.conformances, .types], of: image) else { return }
      try tables.forEachConformance {
        let (type, base) = ($0.type.name, $0.protocol.name)
        types[type.lastName, default: [:]][type, default: Bases()].protocols.insert(base)
        protocols[base.lastName, default: []].insert(base)
      }
      try tables.forEachHeir {
        types[$0.name.lastName, default: [:]][$0.name, default: Bases()].superclass = $1?.name ?? ""
      }
    } catch {
      isIncomplete = true
    }
  }

  /// Returns whether some type conforms to a protocol of this name, which may begin with any of the protocol's names.
  package func hasConformance(to protocol: String) -> Bool {
    protocols[`protocol`.lastName, default: []].contains { $0.answers(to: `protocol`) }
  }

  /// Returns whether a type conforms to a protocol, itself or by a class that it extends; nil if the files do not tell.
  ///
  /// - Parameters:
  ///   - type: The name of a type of these files, which may begin with any of its names.
  ///   - protocol: The name of a protocol, likewise.
  ///   - declared: The types of these files.
  /// - Returns: Whether it does; nil if a class that it extends is in no file, or a file cannot be read.
  package func conforms(
    _ type: String, to protocol: String, among declared: DeclaredTypes
  ) -> Bool? {
    var left = [type]
    var seen: Set<String> = []
    var isTold = !isIncomplete
    while let type = left.popLast() {
      guard seen.insert(type).inserted else { continue }
      for (name, bases) in types[type.lastName, default: [:]] where name.answers(to: type) {
        if bases.protocols.contains(where: { $0.answers(to: `protocol`) }) { return true }
        guard let superclass = bases.superclass else { continue }
        if !declared.has(superclass) { isTold = false }
        left.append(superclass)
      }
    }
    return isTold ? false : nil
  }
}

extension String {
  /// The last of the names between dots.
  fileprivate var lastName: String { String(split(separator: ".").last ?? "") }

  /// Returns whether this is the whole name of what a written name means.
  fileprivate func answers(to written: String) -> Bool {
    self == written || hasSuffix("." + written)
  }
}

extension Record {
  /// The Swift type that must be loaded for the entry to be made; nil if the entry brings what makes it.
  package var neededType: String? {
    guard !attributes.isC else { return nil }
    return accessor.map { $0.target == .null } ?? true ? namedType : nil
  }

  /// The Swift type that the entry names.
  package var namedType: String? {
    switch kind {
    case .module: name
    case .service: implementation
    default: nil
    }
  }
}
