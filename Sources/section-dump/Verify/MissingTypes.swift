internal import PluginFiles
internal import Registration

/// Entries whose implementation is nowhere in the set.
///
/// An entry with an accessor or a C structure brings what it needs; one that names a Swift type waits
/// for a file that declares it. A host may still bind the name by code, hence a warning.
enum MissingTypes {
  static func findings(in survey: Survey) -> [Finding] {
    let declared = survey.types
    let unsearched = survey.unsearched
    return survey.declared.compactMap { entry in
      guard let type = entry.record.neededType else { return nil }
      let types = declared[entry.platform] ?? DeclaredTypes()
      guard !types.has(type) else { return nil }
      let message =
        "\(entry.record.kind) \(entry.record.name) needs the Swift type \(type), which no file has"
      guard let file = unsearched[entry.platform] else {
        return Finding(
          .missingImplementation, .warning, entry.place, message,
          remedy: "add the file that has it, correct the name, or bind it by code")
      }
      return Finding(
        .missingImplementation, .remark, entry.place,
        "\(message) whose types can be read; those of \(file) cannot",
        remedy: "name the library that has the type, as it is linked and with its sections")
    }
  }
}
