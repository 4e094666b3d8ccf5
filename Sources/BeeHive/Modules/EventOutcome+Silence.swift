internal import BinaryImage

extension EventOutcome {
  /// Why an event has no effect, for those who learn only that it has none.
  func silence(of event: Event) -> String {
    let why =
      answers.isEmpty
      ? "no module runs that could be told; start the Hive first"
      : "none of the modules that were told has handled it: "
        + answers.map(\.module).joined(separator: ", ")
    return "event \(event.kind.rawValue) \(event.name): \(why)".escaped
  }
}
