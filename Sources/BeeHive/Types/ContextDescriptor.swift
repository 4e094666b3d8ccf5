internal import SwiftMetadata

/// What the compiler wrote about a type, protocol, module or extension of a loaded Swift image.
///
/// A view of constant memory: Swift images are never unmapped, so an address that a registered
/// section gave stays readable.
struct ContextDescriptor: Hashable, Sendable {
  /// Where the descriptor lies.
  let address: UInt

  /// The descriptor at an address; nil unless a descriptor can lie there.
  init?(at address: UInt?) {
    guard let address, address != 0, address % 4 == 0 else { return nil }
    self.address = address
  }

  /// What is described, and how.
  var flags: ContextFlags { ProcessTables.flags(of: address) }

  /// Whether metadata takes generic arguments: of the type itself or of a type around it.
  var isGeneric: Bool { flags.isGeneric }

  /// The name: the last component of the path; nil where the kind has none.
  var name: String? {
    unsafe ProcessTables.name(of: address).map { unsafe String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the name is this one; makes no `String` to tell.
  func isNamed(_ other: Substring) -> Bool {
    unsafe ProcessTables.name(of: address).map { unsafe $0.elementsEqual(other.utf8) } ?? false
  }

  /// The names from the module to this declaration; nil where an author could not write them all.
  ///
  /// That is the case inside private declarations and functions. Inside an extension, the names
  /// are those of the extended type; finding it may call into the Swift runtime.
  var path: [String]? {
    ProcessTables.path(of: address) { TypeName(TypeSpelling.of($0).qualified).path }
  }
}
