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
protocol SlotDump: Dump where Content == [PointerSlots.Found] {
  var slots: PointerSlots { get set }

  /// Each slot of a section in turn; what is damaged joins `problems`.
  func forEach(
    in found: PointerSlots.Found, of image: any FileImage, problems: inout [Problem],
    _ body: (PointerSlot) -> Void)
}

extension SlotDump {
  static var contentKey: StaticString { "sections" }
  static var columns: [String] { PointerSlot.columns }
  var wanted: Wanted {
    get { slots.wanted }
    set { slots.wanted = newValue }
  }

  var emptyNote: String { "no section \(slots.wanted.text.escaped)" }

  mutating func read(
    _ image: any FileImage, problems: inout [Problem]
  ) throws(ImageError) -> [PointerSlots.Found] {
    try slots.sections(of: image, problems: &problems)
  }

  func isEmpty(_ sections: [PointerSlots.Found]) -> Bool { sections.isEmpty }

  func write(
    _ sections: [PointerSlots.Found], of image: any FileImage, to json: inout JSONWriter,
    problems: inout [Problem]
  ) {
    for found in sections {
      json.object { json in
        found.section.write(to: &json)
        json.array(key: "entries") { json in
          forEach(in: found, of: image, problems: &problems) { $0.write(to: &json) }
        }
      }
    }
  }

  func writeRows(
    _ sections: [PointerSlots.Found], of image: any FileImage, problems: inout [Problem],
    _ row: ([String]) -> Void
  ) {
    for found in sections {
      forEach(in: found, of: image, problems: &problems) { slot in
        row(slot.fields(section: found.section.name))
      }
    }
  }

  /// Says of a section that it has no bytes; false where it has some.
  func tellsZeros(_ found: PointerSlots.Found, to sink: ByteSink) -> Bool {
    guard found.size == nil else { return false }
    sink.write(
      "  \(found.section.fullName.escaped): \(found.section.size) bytes of memory that start as "
        + "zeros; the file has none of them\n")
    return true
  }
}

/// The texts that each slot of a section leads to, or that the section holds.
struct StringDump: SlotDump {
  var slots: PointerSlots

  func forEach(
    in found: PointerSlots.Found, of image: any FileImage, problems: inout [Problem],
    _ body: (PointerSlot) -> Void
  ) {
    guard slots.stride == nil, let texts = SectionTexts(of: found, in: image) else {
      slots.forEach(in: found, of: image, problems: &problems, body)
      return
    }
    if let failure = texts.forEach(body) { problems.append(Problem(failure)) }
  }

  func writeTable(
    _ sections: [PointerSlots.Found], of image: any FileImage, to sink: ByteSink, _ style: Style,
    problems: inout [Problem]
  ) {
    for found in sections {
      if tellsZeros(found, to: sink) { continue }
      let name = found.section.fullName
      var table = Table(["SLOT", "ADDRESS", "RESOLUTION", "TARGET", "STRING"])
      forEach(in: found, of: image, problems: &problems) { slot in
        let place =
          slots.stride.map { slot.position % $0 }.flatMap { $0 > 0 ? "+\($0)" : nil } ?? ""
        table.add([
          "\(name)\(slot.number)\(place)", String(hexadecimal: slot.address),
          slot.kind == .text ? "text" : slot.resolution.rawValue, slot.destination,
          slot.string ?? slot.note.map { "(\($0))" } ?? "–",
        ])
        if table.count >= Self.batch { table.writeRows(to: sink, style) }
      }
      table.writeRows(to: sink, style)
    }
  }

  /// How many rows are aligned with each other: all of a large section are not held.
  private static let batch = 4096
}
