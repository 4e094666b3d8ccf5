internal import ArgumentParser

/// `section-dump hex --section NAME PATH…`: shows bytes, with each pointer slot resolved next to them.
struct Hex: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "hex", abstract: "Shows a section's bytes and where each pointer leads.",
    discussion: """
      After an arrow, each line shows where its pointers lead, each with the number of its word in the section. \
      Repeated lines are only counted.
      """)

  @OptionGroup var files: FileOptions
  @OptionGroup var sections: SectionOptions

  func run() throws {
    let slots = PointerSlots(
      showsBytes: true, maxBytes: files.inputs.maxBytes, showsWholeTexts: sections.wholeTexts)
    try files.show(slots.listing(sections.wanted))
  }
}

/// `section-dump strings --section NAME PATH…`: shows any section as an array of pointers to strings.
struct Strings: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "strings",
    abstract: "Shows a section of any project as an array of pointers to strings.",
    discussion: """
      Shows words that are not pointers as numbers, and equal ones in a row once. Shows a section of texts, such as \
      .comment, as texts. For a table of structures, give --stride, the size of each structure, and --at, the places \
      of its pointers.
      """)

  @OptionGroup var files: FileOptions
  @OptionGroup var sections: SectionOptions

  @Option(
    help: ArgumentHelp(
      "Read a table of structures: how many bytes each element has.", valueName: "bytes"))
  var stride: Int?

  @Option(
    help: ArgumentHelp(
      "With --stride: where in an element a pointer is, in bytes; may be repeated. By default "
        + "at its start.", valueName: "bytes"))
  var at: [Int] = []

  func validate() throws {
    guard let stride else { return try expect(at.isEmpty, "--at needs --stride.") }
    try expect(stride > 0, "--stride must be positive.")
    let isInside = at.allSatisfy { (0..<stride).contains($0) }
    try expect(isInside, "--at must lie in an element: 0 to \(stride - 1).")
  }

  func run() throws {
    var slots = PointerSlots(maxBytes: files.inputs.maxBytes, showsWholeTexts: sections.wholeTexts)
    slots.stride = stride.map { UInt64($0) }
    if !at.isEmpty { slots.places = Set(at).sorted().map { UInt64($0) } }
    try files.show(slots.listing(sections.wanted))
  }
}
