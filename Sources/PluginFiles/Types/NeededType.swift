internal import BinaryImage
package import Registration

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
