internal import BinaryImage

/// A type or protocol that several images declare under one name: each has a type of its own, and what
/// serves as one does not serve as the other. It happens where a module is linked into several images.
enum TypeCopies {
  /// Which images have a copy and what to do, to end a sentence with; empty where there is one at most.
  ///
  /// Asks the loader: call it with no lock held, and only to say why something failed.
  static func remark(on type: any Any.Type) -> String {
    let name = TypeSpelling.of(type).qualified
    var paths: [String] = []
    for base in TypeLookup.images(declaring: TypeName(name)) {
      let path = RuntimeAddress(rawValue: base).imagePath ?? "an image that is gone"
      if !paths.contains(path) { paths.append(path) }
    }
    guard paths.count > 1 else { return "" }
    let module = name.split(separator: ".").first ?? ""
    return "; \(paths.joined(separator: " and ")) each have a \(name) of their own, so these are "
      + "different types: put the module \(module) into one dynamic library that all of them link"
  }
}
