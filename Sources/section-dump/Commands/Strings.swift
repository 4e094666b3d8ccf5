internal import ArgumentParser
internal import BinaryImage

/// `section-dump strings --section NAME PATH…`: any section as an array of pointers to strings.
struct Strings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "strings",
    abstract: "Shows a section as an array of pointers to strings, whoever's it is.")

  @OptionGroup var inputs: InputOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var isolation: IsolationOptions

  @Option(
    help: ArgumentHelp(
      "The section's exact name; for Mach-O also SEGMENT,section.", valueName: "name"))
  var section: String

  func run() throws {
    let slots = PointerSlots(sectionName: section, maxBytes: inputs.values.maxBytes)
    var run = DumpRun(StringDump(slots: slots), isolation.apply(to: inputs.values), output.values)
    try run().end()
  }
}

/// The texts that each slot of a section leads to.
struct StringDump: Dump {
  static let contentKey = "sections"
  static let columns = PointerSlot.columns

  let slots: PointerSlots

  var emptyNote: String { "no section \(slots.sectionName.escaped)" }

  mutating func read(
    _ image: any FileImage, problems: inout [Problem]
  ) throws(ImageError) -> [(section: Section, firstIndex: Int)] {
    try slots.sections(of: image, problems: &problems)
  }

  func isEmpty(_ sections: [(section: Section, firstIndex: Int)]) -> Bool { sections.isEmpty }

  func write(
    _ sections: [(section: Section, firstIndex: Int)], of image: any FileImage,
    to json: inout JSONWriter, problems: inout [Problem]
  ) {
    for (section, firstIndex) in sections {
      json.object { json in
        section.write(to: &json)
        json.key("entries")
        json.array { json in
          forEach(in: section, firstIndex, of: image, &problems) { $0.write(to: &json) }
        }
      }
    }
  }

  func writeRows(
    _ sections: [(section: Section, firstIndex: Int)], of image: any FileImage,
    problems: inout [Problem], _ row: ([String]) -> Void
  ) {
    for (section, firstIndex) in sections {
      forEach(in: section, firstIndex, of: image, &problems) { slot in
        row(slot.fields(section: section.name))
      }
    }
  }

  func writeTable(
    _ sections: [(section: Section, firstIndex: Int)], of image: any FileImage, to sink: ByteSink,
    _ style: Style, problems: inout [Problem]
  ) {
    for (section, firstIndex) in sections {
      var table = Table(["SLOT", "ADDRESS", "RESOLUTION", "TARGET", "STRING"])
      forEach(in: section, firstIndex, of: image, &problems) { slot in
        table.add([
          "\(section.fullName)[\(slot.index)]", String(hexadecimal: slot.address),
          slot.resolution.rawValue, slot.destination, slot.string ?? "–",
        ])
      }
      table.write(to: sink, style)
    }
  }

  /// Every slot; one that leads to no text, and the rest of an odd size, are problems.
  private func forEach(
    in section: Section, _ firstIndex: Int, of image: any FileImage, _ problems: inout [Problem],
    _ body: (PointerSlot) -> Void
  ) {
    var log = ProblemLog(section: section)
    slots.forEach(in: section, firstIndex: firstIndex, of: image) { slot in
      if let failure = slot.failure { log.add(failure, slot) }
      body(slot)
    }
    let rest = section.size % UInt64(image.pointerSize)
    if rest > 0 {
      log.add(
        ImageError(
          .malformed, image: image.identity.path, section: section.name, offset: section.offset,
          message: "\(rest) bytes are left behind the last whole pointer."), nil)
    }
    problems += log.problems
  }
}

/// The problems of one section, as many as a person reads.
private struct ProblemLog {
  private static let limit = 1000

  let section: Section
  private var listed: [Problem] = []
  private var more = 0

  init(section: Section) {
    self.section = section
  }

  mutating func add(_ error: ImageError, _ slot: PointerSlot?) {
    guard listed.count < Self.limit else {
      more += 1
      return
    }
    var problem = Problem(error)
    problem.section = section.name
    if let slot {
      problem.index = slot.index
      problem.offset = slot.offset
    }
    listed.append(problem)
  }

  var problems: [Problem] {
    guard more > 0 else { return listed }
    return listed + [
      Problem(
        ImageError(
          .malformed, image: "", section: section.name, offset: section.offset,
          message: "\(more) more slots lead to no text; the first \(Self.limit) are listed."))
    ]
  }
}
