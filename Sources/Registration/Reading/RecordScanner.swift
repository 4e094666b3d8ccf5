package import BinaryImage

/// Everything that one image declares, and everything in it that cannot be registered.
package struct Scan: Sendable {
  /// The well-formed entries: `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`, each by index.
  package var records: [Record] = []
  /// The refused entries, in the same order.
  package var rejections: [Rejection] = []

  /// An empty scan.
  package init() {}
}

/// Reads the three sections of an image.
package enum RecordScanner {
  /// The section of module names: one `const char *` per entry.
  package static let modules = "BeehiveMods"
  /// The section of services: one `const char *` to `{ "Service" : "Implementation" }` per entry.
  package static let services = "BeehiveServices"
  /// The section of typed records, text inline.
  package static let typedRecords = "BeehiveRecords"

  /// Everything that `image` declares, as values.
  ///
  /// A refused entry never hides its neighbours, and a section whose bytes cannot be read is one
  /// rejection that hides no other section. Throws where sections cannot be looked for: then
  /// nothing at all is known of the image. What a hostile image can make this hold is bounded.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - keepsPointers: Whether the records say where their pointers lead.
  /// - Returns: The records and the rejections.
  /// - Throws: ``ImageError`` where sections cannot be looked for.
  package static func scan(
    _ image: some Image, keepsPointers: Bool = true
  ) throws(ImageError) -> Scan { try everything(in: image, keepsPointers) }

  /// The same of an ELF file: the compiler makes code of its own for it.
  package static func scan(
    _ image: ELFFile, keepsPointers: Bool = true
  ) throws(ImageError) -> Scan { try everything(in: image, keepsPointers) }

  private static func everything(
    in image: some Image, _ keepsPointers: Bool
  ) throws(ImageError) -> Scan {
    let sections = try EntrySections(of: image)
    let all = sections.all
    var scan = Scan()
    // Most files of a system end here, before anything is read that only says what they are.
    guard let most = all.map(\.size).max() else { return scan }
    scan.records.reserveCapacity(Int(min(most / 8, 16)))
    // Made once, at the first record in C.
    lazy var memory = image.addressedMemory
    var reader = EntryReader(image)
    reader.read(sections) { view, text, pointer, section throws(Refusal) in
      var record: Record
      do throws(ImageError) {
        record = try Record.made(of: view, text, pointer, in: section, of: image)
      } catch {
        throw Refusal(.unresolvedPointer, error.message)
      }
      try record.checkStructure(in: memory)
      if !keepsPointers { record.forgetPointers() }
      // A record is large: it is moved there.
      scan.records.append(consume record)
    }
    scan.rejections = reader.tally.rejections
    return scan
  }
}

extension Record {
  /// Makes the value of an entry that was checked.
  ///
  /// - Parameters:
  ///   - view: The entry.
  ///   - text: The text that its parts are ranges of.
  ///   - pointer: The pointer that leads there, where it was read.
  ///   - section: The section that holds it.
  ///   - image: The image.
  /// - Returns: The record.
  /// - Throws: ``ImageError`` where the pointers of a file are not to be resolved.
  static func made(
    of view: RecordView, _ text: Span<UInt8>, _ pointer: PointerValue?, in section: Section,
    of image: some Image
  ) throws(ImageError) -> Record {
    var (resolution, textAddress) = (PointerValue.Resolution.none, VirtualAddress?.none)
    var (accessor, context): (PointerValue?, PointerValue?)
    switch view.encoding {
    case .pointer:
      guard let pointer else {
        let read = try image.pointer(at: view.offset, in: section)
        return try made(of: view, text, read, in: section, of: image)
      }
      resolution = pointer.resolution
      if case .address(let address) = pointer.target { textAddress = address }
    case .inline:
      accessor = try image.pointer(
        at: view.offset + UInt64(RecordGrammar.accessorOffset), in: section)
      context = try image.pointer(
        at: view.offset + UInt64(RecordGrammar.contextOffset), in: section)
    }
    return Record(
      kind: view.kind, name: view.nameText(in: text),
      implementation: view.implementationText(in: text),
      attributes: view.attributes.count == 0
        ? Attributes() : Attributes(checked: text.extracting(view.attributes.range)),
      encoding: view.encoding, resolution: resolution, textAddress: textAddress,
      accessor: accessor, context: context,
      origin: Origin(
        image: image.path, section: section, named: section.name, index: Int(view.index),
        offset: view.offset))
  }
}
