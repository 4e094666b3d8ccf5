package import BinaryImage
package import Registration
package import SwiftMetadata

/// The Swift types, or the protocols, that files declare, by the names that the runtime would find
/// them under.
///
/// The tables that the runtime reads are in every linked image, stripped or not. Those of objects wait
/// for relocations that only a linker applies, so of them nothing is known.
package struct DeclaredTypes: Codable, Sendable {
  /// Whether a file has types that could not be read, so that a name that is not here may be there.
  package private(set) var isIncomplete = false

  /// The names from the module on, by the last one; from an inner one on where what encloses a type
  /// is not known, since another image has it.
  private var paths: [String: Set<DeclaredPath>] = [:]

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
  }

  /// Adds what an image lists; what cannot be read makes the set incomplete.
  package mutating func add(_ list: FileTables.List, of image: any FileImage) {
    do throws(ImageError) {
      try FileTables([list], of: image)?.forEachPath(in: list) { path, _ in
        if let last = path.names.last { paths[last, default: []].insert(path) }
      }
    } catch {
      isIncomplete = true
    }
  }

  /// Whether a type answers to a written name, which may begin with any of a type's names.
  package func has(_ written: String) -> Bool {
    guard let wanted = Self.names(in: written), let last = wanted.last else { return false }
    return paths[last, default: []].contains { path in
      let count = path.isWhole ? wanted.count : min(wanted.count, path.names.count)
      return path.names.suffix(count).elementsEqual(wanted.suffix(count))
    }
  }

  /// `Cache<Key, Value>.Item` is `Cache` and `Item`; nil where a part has no name.
  package static func names(in written: String) -> [String]? {
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

extension Record {
  /// The Swift type that must be loaded for the entry to be made; nil where it brings what makes it.
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
