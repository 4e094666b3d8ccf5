package import BinaryImage

/// All entries of one image: those that are well formed, and those that cannot be registered.
package struct Scan: Sendable {
  /// The well-formed entries: `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`, each by index.
  package var records: [Record] = []
  /// The refused entries, in the same order.
  package var rejections: [Rejection] = []

  /// The most refusals of one sort that are listed for a file. Whoever lists them says if there are more.
  package static let mostRefused = 1024

  /// The section of module names: one `const char *` per entry.
  package static let modules = "BeehiveMods"
  /// The section of services: one `const char *` to `{ "Service" : "Implementation" }` per entry.
  package static let services = "BeehiveServices"
  /// The section of typed records, text inline.
  package static let typedRecords = "BeehiveRecords"
  /// The sections in the order of reading, with the kind of all entries; unknown if each entry has its own.
  static let sections: [(name: String, kind: RecordKind)] = [
    (modules, .module), (services, .service), (typedRecords, .unknown),
  ]

  /// Creates an empty scan.
  package init() {}

  /// Reads everything that `image` declares, as values.
  ///
  /// A refused entry never hides its neighbours. A section whose bytes cannot be read is one
  /// rejection and hides no other section. If sections cannot be looked for, nothing at all is known
  /// of the image. There is a bound on what a hostile image can make this hold.
  ///
  /// - Parameter image: The image.
  /// - Throws: ``ImageError`` if sections cannot be looked for.
  package init(of image: some Image) throws(ImageError) { self = try Self.scan(image) }

  /// Reads an ELF file likewise: the compiler makes code of its own for it.
  package init(of image: ELFFile) throws(ImageError) { self = try Self.scan(image) }

  /// Reads an image of this process likewise: the compiler makes code of its own for it.
  package init(of image: LoadedImage) throws(ImageError) { self = try Self.scan(image) }

  private static func scan(_ image: some Image) throws(ImageError) -> Scan {
    var reader = EntryReader(image)
    try reader.read()
    return reader.scan
  }

  /// Whether the image declares nothing at all.
  package var isEmpty: Bool { records.isEmpty && rejections.isEmpty }
}
