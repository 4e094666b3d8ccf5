public import BinaryImage

/// Everything that one image declares, and everything in it that cannot be registered.
public struct Scan: Sendable {
  /// The well-formed entries: `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`, each by index.
  public var records: [Record] = []
  /// The refused entries, in the same order.
  public var rejections: [Rejection] = []

  /// An empty scan.
  public init() {}
}

/// Reads the three sections of an image.
public enum RecordScanner {
  /// The section of module names: one `const char *` per entry.
  public static let modules = "BeehiveMods"
  /// The section of services: one `const char *` to `{ "Service" : "Implementation" }` per entry.
  public static let services = "BeehiveServices"
  /// The section of typed records, text inline.
  public static let typedRecords = "BeehiveRecords"

  /// Everything that `image` declares.
  ///
  /// A refused entry never hides its neighbours, and a section whose bytes cannot be read is one
  /// rejection that hides no other section. Throws where sections cannot be looked for: then
  /// nothing at all is known of the image. What a hostile image can make this hold is bounded.
  public static func scan(_ image: some Image) throws(ImageError) -> Scan {
    let sections = try Sections(of: image)
    // Most files of a system end here, before anything is read that only says what they are.
    if sections.isEmpty { return Scan() }
    var collector = ScanCollector(image: image.identity.path)
    collector.begin(sectionsNamed: modules, of: .module)
    for section in sections.modules {
      PointerEntries.read(section, of: image, into: &collector, decode: PointerEntries.module)
    }
    collector.endSections()

    collector.begin(sectionsNamed: services, of: .service)
    for section in sections.services {
      PointerEntries.read(section, of: image, into: &collector, decode: PointerEntries.service)
    }
    collector.endSections()

    collector.begin(sectionsNamed: typedRecords)
    for section in sections.typedRecords {
      TypedRecords.read(section, of: image, into: &collector)
    }
    collector.endSections()

    return collector.scan
  }

  /// The same of a loaded image, with its plain entries left where they stand.
  ///
  /// Every entry is checked, so that what is refused is refused now.
  public static func outline(_ image: LoadedImage) throws(ImageError) -> Outline {
    let sections = try Sections(of: image)
    if sections.isEmpty { return Outline(of: image) }
    var reader = OutlineReader(image)
    reader.read(
      modules: sections.modules, services: sections.services, records: sections.typedRecords)
    return reader.outline
  }

  /// The sections that declare something.
  private struct Sections {
    let modules: [Section]
    let services: [Section]
    let typedRecords: [Section]

    init(of image: some Image) throws(ImageError) {
      modules = try image.sections(named: RecordScanner.modules)
      services = try image.sections(named: RecordScanner.services)
      typedRecords = try image.sections(named: RecordScanner.typedRecords)
    }

    var isEmpty: Bool { modules.isEmpty && services.isEmpty && typedRecords.isEmpty }
  }
}
