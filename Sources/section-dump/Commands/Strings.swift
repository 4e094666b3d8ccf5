internal import ArgumentParser
internal import BinaryImage

/// `section-dump strings --section NAME PATH…`: any section as an array of pointers to strings.
struct Strings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "strings",
    abstract: "Shows a section of any project as an array of pointers to strings.",
    discussion: """
      A word that is no pointer is shown as a number, and equal ones that follow each other as one. \
      A section that holds texts, as .comment and .modinfo do, is shown as texts. A table of \
      structures is read by --stride, the bytes of each, and --at, where its pointers are.
      """)

  @OptionGroup var inputs: InputOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var isolation: IsolationOptions

  @OptionGroup var sections: SectionOptions

  @Option(
    help: ArgumentHelp(
      "Read a table of structures: how many bytes each element has.", valueName: "bytes"))
  var stride: Int?

  @Option(
    help: ArgumentHelp(
      "With --stride: where in an element a pointer stands, in bytes; may be repeated. By default "
        + "at its start.", valueName: "bytes"))
  var at: [Int] = []

  func validate() throws {
    guard let stride else {
      guard at.isEmpty else { throw ValidationError("--at needs --stride.") }
      return
    }
    guard stride > 0 else { throw ValidationError("--stride must be positive.") }
    guard at.allSatisfy({ (0..<stride).contains($0) }) else {
      throw ValidationError("--at must lie in an element: 0 to \(stride - 1).")
    }
  }

  func run() throws {
    var slots = PointerSlots(wanted: sections.wanted, maxBytes: inputs.values.maxBytes)
    slots.stride = stride.map { UInt64($0) }
    if !at.isEmpty { slots.places = Set(at).sorted().map { UInt64($0) } }
    var run = DumpRun(StringDump(slots: slots), isolation.apply(to: inputs.values), output.values)
    try run().end()
  }
}

/// What a command shows of sections that it reads slot by slot.
protocol SlotDump: Dump where Element == SlotSection {
  var slots: PointerSlots { get set }

  /// Each slot of a section in turn; what is damaged joins the problems.
  func forEach(in section: SlotSection, of found: ReadImage, _ body: (PointerSlot) -> Void)

  /// Writes what a table says of a section that has bytes.
  func writeTable(
    _ section: SlotSection, of found: ReadImage, to sink: ByteSink, _ style: Style)
}

extension SlotDump {
  static var contentKey: StaticString { "sections" }
  static var columns: [String] { PointerSlot.columns }
  var wanted: Wanted {
    get { slots.wanted }
    set { slots.wanted = newValue }
  }

  var emptyNote: String { "no section \(slots.wanted.text.escaped)" }

  mutating func read(_ found: ReadImage) throws(ImageError) -> [SlotSection] {
    try slots.sections(of: found)
  }

  func forEach(in section: SlotSection, of found: ReadImage, _ body: (PointerSlot) -> Void) {
    slots.forEach(in: section, of: found, body)
  }

  func write(_ section: SlotSection, of found: ReadImage, to json: inout JSONWriter) {
    json.object { json in
      section.section.write(to: &json)
      json.array(key: "entries") { json in
        forEach(in: section, of: found) { $0.write(to: &json) }
      }
    }
  }

  func writeRows(_ section: SlotSection, of found: ReadImage, _ row: ([String]) -> Void) {
    forEach(in: section, of: found) { row($0.fields(section: section.section.name)) }
  }

  func writeTable(
    _ sections: [SlotSection], of found: ReadImage, to sink: ByteSink, _ style: Style
  ) {
    for section in sections {
      guard section.size == nil else {
        writeTable(section, of: found, to: sink, style)
        continue
      }
      sink.write(
        "  \(section.section.fullName.escaped): \(section.section.size) bytes of memory that start "
          + "as zeros; the file has none of them\n")
    }
  }
}

/// The texts that each slot of a section leads to, or that the section holds.
struct StringDump: SlotDump {
  var slots: PointerSlots

  func forEach(in section: SlotSection, of found: ReadImage, _ body: (PointerSlot) -> Void) {
    guard slots.stride == nil, let texts = SectionTexts(of: section, in: found.image) else {
      slots.forEach(in: section, of: found, body)
      return
    }
    if let failure = texts.forEach(body) { found.problems.append(failure) }
  }

  func writeTable(
    _ section: SlotSection, of found: ReadImage, to sink: ByteSink, _ style: Style
  ) {
    let name = section.section.fullName
    var table = Table(["SLOT", "ADDRESS", "RESOLUTION", "TARGET", "STRING"])
    forEach(in: section, of: found) { slot in
      let place =
        slots.stride.map { slot.position % $0 }.flatMap { $0 > 0 ? "+\($0)" : nil } ?? ""
      table.add([
        "\(name)\(slot.number)\(place)", String(hexadecimal: slot.address),
        slot.kind == .text ? "text" : slot.resolution.rawValue, slot.destination,
        slot.string ?? slot.note.map { "(\($0))" } ?? "–",
      ])
      if table.count >= Self.batch { table.write(to: sink, style) }
    }
    table.write(to: sink, style)
  }

  /// How many rows are aligned with each other: all of a large section are not held.
  private static let batch = 4096
}
