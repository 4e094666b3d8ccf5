package import BinaryImage

/// One well-formed entry of a section: what an image declares, as a value.
///
/// A record says nothing about whether the name can be bound to a type; that is the Hive's part.
package struct Record: Hashable, Codable, Sendable {
  /// How the entry is written.
  package enum Encoding: String, Hashable, Codable, Sendable {
    /// A `const char *` of the pointer sections.
    case pointer
    /// A typed record with its text inline.
    case inline
  }

  /// What is declared.
  package var kind: RecordKind
  /// The module's or the service's name, as the author wrote it.
  package var name: String
  /// What implements it; nil where the entry names nothing, as for a pointer-section module.
  package var implementation: String?
  /// The parsed attributes.
  package var attributes: Attributes
  /// How the entry is written.
  package var encoding: Encoding
  /// The pointer of a pointer entry; how it was resolved is `resolution`.
  package var resolution: PointerValue.Resolution
  /// The address of a pointer entry's text; nil for typed records, and in objects.
  package var textAddress: VirtualAddress?
  /// The accessor of a typed record, as the image stores it; nil for pointer entries.
  package var accessor: PointerValue?
  /// The context of a typed record, as the image stores it; nil for pointer entries.
  package var context: PointerValue?
  /// The entry's location.
  package var origin: Origin
}

extension Record {
  /// Describes an entry that leads nowhere.
  package init(
    kind: RecordKind, name: String, implementation: String?, attributes: Attributes = Attributes(),
    encoding: Encoding, origin: Origin
  ) {
    self.init(
      kind: kind, name: name, implementation: implementation, attributes: attributes,
      encoding: encoding, resolution: .none, origin: origin)
  }

  /// Forgets where its pointers lead, which means nothing without the bytes of its image.
  mutating func forgetPointers() { (accessor, context, textAddress) = (nil, nil, nil) }
}
