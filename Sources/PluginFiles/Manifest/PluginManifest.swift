package import BinaryImage
package import Registration

/// What a plugin's file says of itself before it is loaded.
///
/// Where the pointers of its entries lead is left out: accessor, context and the address of a text mean nothing
/// without the bytes of the file.
package struct PluginManifest: Hashable, Sendable {
  /// The file's path, as it was found.
  package var path: String { identity.path }
  /// What tells the file and its contents from others.
  package var stamp: FileStamp
  /// Machine, word size, byte order, kind and build-id.
  package var identity: ImageIdentity
  /// Its soname, the libraries that it needs, and what its notes say.
  package var linkage: ELFLinkage
  /// The well-formed entries, in their order.
  package var records: [Record]
  /// The entries that every Hive rejects, in the same order.
  package var rejections: [Rejection]

  /// Describes a file.
  package init(
    stamp: FileStamp, identity: ImageIdentity, linkage: ELFLinkage, records: [Record],
    rejections: [Rejection]
  ) {
    (self.stamp, self.identity, self.linkage) = (stamp, identity, linkage)
    (self.records, self.rejections) = (records, rejections)
  }
}

extension PluginManifest {
  /// How a file depends on Swift's runtime.
  package enum SwiftUse: String, Sendable {
    /// It does not.
    case none
    /// It has metadata of Swift's, or needs a library of Swift's runtime, which the host's is to be.
    case shared
    /// It has metadata of Swift's and needs no library of the runtime: a copy is linked into it.
    case linkedIn = "linked-in"
  }

  /// How the file depends on Swift's runtime.
  package var swiftUse: SwiftUse {
    if linkage.needed.contains(where: { $0.hasPrefix("libswiftCore.") }) { return .shared }
    return linkage.hasSwiftSections ? .linkedIn : .none
  }

  /// What one of the modules requires of others.
  package struct Requirement: Hashable, Sendable {
    /// The module that is required.
    package var module: ModuleRequirement
    /// The name of the entry that requires it.
    package var requirer: String
    /// Whether it is only to come first where it is there: `after=`.
    package var isOptional: Bool
  }

  /// What its modules require, in their order; what the file itself offers included.
  package var requirements: [Requirement] {
    records.flatMap { record in
      let attributes = record.attributes
      let all = attributes.requires.map { ($0, false) } + attributes.after.map { ($0, true) }
      return all.map { text, isOptional in
        Requirement(
          module: ModuleRequirement(text), requirer: record.name, isOptional: isOptional)
      }
    }
  }
}
