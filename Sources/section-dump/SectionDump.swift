internal import ArgumentParser

/// What would these files register, and what do the pointers in this section say?
@main
struct SectionDump: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "section-dump",
    abstract: "Shows what object files would register, without loading them.",
    usage: """
      section-dump [records] [<options>] <path> ...
      section-dump sections|hex|strings [<options>] <path> ...
      """,
    discussion: """
      Reads the sections BeehiveMods, BeehiveServices and BeehiveRecords of object files of any \
      machine and byte order, resolves their pointers as the loader would, and prints the entries. \
      hex and strings do the same for any other section.

      Exit status: 0 everything was read, 1 an expectation failed, 2 an input could not be read or \
      holds a malformed entry, 64 usage.
      """,
    subcommands: [Records.self, Sections.self, Hex.self, Strings.self],
    defaultSubcommand: Records.self)
}
