/// What a module says of another that it requires: `log`, or `log >=1.2 <2` where not every version will do.
package struct ModuleRequirement: Hashable, Sendable {
  /// The other module's name.
  package let name: String
  /// Which versions of it will do, as written; empty where every version will.
  package let versions: String

  /// Reads what a module says. Versions begin where one of `<`, `>` and `=` follows a space.
  package init(_ text: String) {
    let gap = zip(text.indices, text.indices.dropFirst()).first {
      text[$0] == " " && "<>=".contains(text[$1])
    }
    name = String(text[..<(gap?.0 ?? text.endIndex)])
    versions = String(text[(gap?.1 ?? text.endIndex)...])
  }

  /// Whether the versions can be read.
  var isReadable: Bool { versions.isEmpty || VersionRange(versions) != nil }

  /// Says why a module of the name does not meet it: "is of version 0.9, not >=1.2 <2".
  ///
  /// - Parameter version: The module's version, if it says one.
  /// - Returns: Nil where the module will do.
  package func fault(of version: String?) -> String? {
    guard !versions.isEmpty else { return nil }
    guard let range = VersionRange(versions) else {
      return "is there; which versions will do, \(versions), cannot be read"
    }
    guard let version, let found = Version(version) else {
      return "says no version, where \(versions) is required"
    }
    return range.contains(found) ? nil : "is of version \(version), not \(versions)"
  }
}

extension Attributes {
  /// The names of the modules that must be present and start earlier.
  package var requiredNames: [String] { requires.map { ModuleRequirement($0).name } }
}
