package import BinaryImage

/// One well-formed entry of a section: what an image declares, as a value.
///
/// A record says nothing about whether the name can be bound to a type; that is the Hive's part.
package struct Record: Hashable, Codable, Sendable {
  /// The encoding of an entry.
  package enum Encoding: String, Hashable, Codable, Sendable {
    /// A `const char *` of the pointer sections.
    case pointer
    /// A typed record with its text inline.
    case inline
  }

  /// The kind of thing that is declared.
  package var kind: RecordKind
  /// The module's or the service's name, as the author wrote it.
  package var name: String
  /// The implementation; nil if the entry names none, as for a pointer-section module.
  package var implementation: String?
  /// The parsed attributes.
  package var attributes: Attributes
  /// The encoding of the entry.
  package var encoding: Encoding
  /// The resolution of a pointer entry's pointer.
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
}

/// The kind of thing that a record declares: the `kind` field of a typed record.
public struct RecordKind: RawRepresentable, Hashable, Codable, Sendable, CustomStringConvertible {
  /// The number in the record.
  public var rawValue: UInt16

  /// Wraps a number; the known ones are static members.
  ///
  /// - Parameter rawValue: The number in the record.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// No kind: the slot does not say what it holds.
  package static let unknown = Self(rawValue: 0)
  /// A module: something with a lifecycle.
  public static let module = Self(rawValue: 1)
  /// A service: an implementation that is looked up by what it does.
  public static let service = Self(rawValue: 2)
  /// A target: a named group of actions.
  public static let target = Self(rawValue: 3)
  /// A route: a URL pattern and its handler.
  public static let route = Self(rawValue: 4)
  /// The identity of a plugin: its id and its version. Readers of files use it, and no Hive registers it.
  package static let plugin = Self(rawValue: 5)

  /// Whether this version of the contract gives the number a meaning.
  package var isKnown: Bool { (1...5).contains(rawValue) }

  /// Whether a Hive makes an entry of such a record.
  package var isRegistered: Bool { self != .plugin && !isThirdParty }

  /// Whether the number belongs to a third party. Tools show such records; no Hive registers them.
  package var isThirdParty: Bool { rawValue >= 0x8000 }

  /// `module`, `service`, …; the number in hexadecimal if it has no name.
  public var description: String {
    switch self {
    case .unknown: "record"
    case .module: "module"
    case .service: "service"
    case .target: "target"
    case .route: "route"
    case .plugin: "plugin"
    default: "0x" + String(rawValue, radix: 16)
    }
  }
}

/// The location of an entry: image, section, slot and address.
public struct Origin: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The path of the file, or the loader's name for the image.
  public var image: String
  /// The section, by its name in the file: `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`.
  public var section: String
  /// The slot, counted over the concatenation of all sections of that name.
  public var index: Int
  /// The linked address of the entry; relative to its section in objects.
  package var address: VirtualAddress
  /// The entry's offset in the file; nil for a loaded image.
  package var offset: FileOffset?

  /// Describes a location.
  ///
  /// - Parameters:
  ///   - image: The path of the file, or the loader's name for the image; empty for the executable.
  ///   - section: The section's name in the file.
  ///   - index: The slot, counted over all sections of that name.
  ///   - address: The linked address of the entry; relative to its section in objects.
  ///   - offset: The entry's offset in the file; nil for a loaded image.
  package init(
    image: String, section: String, index: Int, address: VirtualAddress, offset: FileOffset? = nil
  ) {
    self.image = image
    self.section = section
    self.index = index
    self.address = address
    self.offset = offset
  }

  /// `libshop.so BeehiveRecords[1]`: the file's name without its folders.
  public var description: String { description(folders: 0) }

  /// Returns the location, with folders of the image's path.
  ///
  /// - Parameter folders: The number of folders before the file's name, at most as many as the path has.
  /// - Returns: `lib/libshop.so BeehiveRecords[1]` for one folder.
  public func description(folders: Int) -> String {
    let parts = image.pathParts
    let name = parts.isEmpty ? "(executable)" : parts.suffix(folders + 1).joined(separator: "/")
    return "\(name) \(section)[\(index)]".escaped
  }
}
