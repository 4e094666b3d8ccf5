import ArgumentParser

@main
struct SectionDump: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "section-dump")
}
