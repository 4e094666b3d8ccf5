internal import BinaryImage
internal import ObjectFiles
internal import Registration

/// An entry of a running process, and what its Hive made of it.
struct LiveRecord {
  let record: Record
  /// Nil where the process does not say.
  let entry: EntryStates.Entry?

  func write(to json: inout JSONWriter) {
    record.write(to: &json) { EntryStates.writeFields(of: entry, to: &$0) }
  }

  /// Writes what a person sees, with the states before each entry and the reasons behind where there are any.
  static func writeTable(
    of records: [LiveRecord], withStates: Bool, to sink: ByteSink, _ style: Style
  ) {
    var table = Table(
      (withStates ? ["STATE"] : []) + RecordDump.titles + (withStates ? ["REASON"] : []),
      to: sink, style)
    for record in records {
      if withStates { table.cell(record.entry?.word) }
      RecordDump.addCells(of: record.record, to: &table)
      if withStates { table.cell(message: record.entry?.reason ?? "") }
    }
    table.finish()
  }
}

extension EntryStates.Entry {
  /// What a person reads: of a bound module that does not run, why not.
  fileprivate var word: String { state == .bound ? code ?? state.rawValue : state.rawValue }
}

extension EntryStates {
  /// What is said of an entry behind its record.
  static func writeFields(of entry: Entry?, to writer: inout some FieldWriter) {
    writer.string(key: "state", entry?.state.rawValue)
    writer.string(key: "code", entry?.code)
    writer.message(key: "reason", entry?.reason)
  }

  /// What became of an entry; kinds of third parties are registered by no Hive.
  func entry(of record: Record, in image: RemoteImage) -> Entry? {
    guard !record.kind.isThirdParty else { return nil }
    return self[
      record.origin.index, in: record.origin.section, of: image, isModule: record.kind == .module]
  }
}
