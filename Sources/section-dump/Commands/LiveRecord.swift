internal import BinaryImage
internal import ObjectFiles
internal import Registration

/// An entry of a running process, and what its Hive made of it.
struct LiveRecord {
  let record: Record
  /// Nil where the process does not say.
  let entry: EntryStates.Entry?

  func write(to json: inout JSONWriter) {
    record.write(to: &json) { $0.fields(EntryStates.fields, of: entry) }
  }

  /// What a person sees, with the states before each entry and the reasons behind where there are any.
  static func table(of records: [LiveRecord], withStates: Bool) -> Table {
    var table = Table(
      (withStates ? ["STATE"] : []) + RecordDump.titles + (withStates ? ["REASON"] : []))
    for record in records {
      let cells = RecordDump.cells(of: record.record)
      let (state, reason) = (record.entry?.word ?? "–", record.entry?.reason ?? "")
      table.add(withStates ? [state] + cells + [reason] : cells)
    }
    return table
  }
}

extension EntryStates.Entry {
  /// What a person reads: of a bound module that does not run, why not.
  fileprivate var word: String { state == .bound ? code ?? state.rawValue : state.rawValue }
}

extension EntryStates {
  /// What is said of an entry behind its record.
  static let fields: [Field<Entry?>] = [
    .text("state") { $0?.state.rawValue },
    .text("code") { $0?.code },
    .text("reason") { $0?.reason },
  ]

  /// What became of an entry; kinds of third parties are registered by no Hive.
  func entry(of record: Record, in image: RemoteImage) -> Entry? {
    guard !record.kind.isThirdParty else { return nil }
    return self[
      record.origin.index, in: record.origin.section, of: image, isModule: record.kind == .module]
  }
}
