internal import BinaryImage
internal import ObjectFiles
internal import Registration

/// An entry of a running process, and what its Hive made of it.
struct LiveRecord {
  let record: Record
  /// Nil where the process does not say.
  let entry: EntryStates.Entry?

  /// The columns of CSV behind those of the record.
  var fields: [String] {
    [entry?.state.rawValue ?? "", entry?.code ?? "", entry?.reason ?? ""]
  }

  func write(to json: inout JSONWriter) {
    record.write(to: &json) { json in
      json.string(key: "state", entry?.state.rawValue)
      json.string(key: "code", entry?.code)
      json.string(key: "reason", entry?.reason)
    }
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
  /// The columns of CSV behind those of the record.
  static let columns = ["state", "code", "reason"]

  /// What became of an entry; kinds of third parties are registered by no Hive.
  func entry(of record: Record, in image: RemoteImage) -> Entry? {
    guard !record.kind.isThirdParty else { return nil }
    return self[record.origin.index, in: record.origin.section, of: image]
  }
}
