/// Finds a type by its whole name through the runtime alone, for want of an index.
///
/// The runtime takes `Module.Type` only for top-level classes; everything else goes by its mangled
/// name, which says of each component whether it is a class, a struct or an enum. A written name does
/// not, so each is tried. A miss costs a walk over all types of the process for each attempt.
enum MangledName {
  /// The type with the path `Module`, `Outer`, …, `Type`; nil if there is none, or it is generic.
  static func type(at path: [String]) -> (any Any.Type)? {
    guard let module = path.first, path.count > 1 else { return nil }
    var outer = prefix(module: module)
    for (index, name) in path.enumerated().dropFirst() {
      let isLast = index == path.count - 1
      let part = outer + "\(name.utf8.count)\(name)"
      for suffix in isLast ? ["C", "V", "O", "_p"] : ["C", "V", "O"] {
        guard let type = _typeByName(part + suffix) else { continue }
        if isLast { return type }
        outer = part + suffix
        break
      }
      // No enclosing type of this name: nothing inside it either.
      if !isLast && !outer.hasPrefix(part) { return nil }
    }
    return nil
  }

  /// A module as a mangled name starts with it; the standard library's is abbreviated.
  private static func prefix(module: String) -> String {
    switch module {
    case "Swift": "s"
    case "__C": "So"
    default: "\(module.utf8.count)\(module)"
    }
  }
}
