package import BinaryImage
package import Registration

extension ContractDrift {
  /// Compares the tables of a file's services in C with what a host asks for, in the order of the records.
  ///
  /// A table may be larger: what is appended to a structure leaves what is before it as it was.
  ///
  /// - Parameters:
  ///   - records: The entries of the file.
  ///   - image: The file.
  ///   - asked: The tables of the services that the host knows; others have no verdict.
  /// - Returns: A verdict on each table that the host asks for.
  package static func all(
    of records: [Record], in image: any FileImage, asked: [PluginPolicy.Table]
  ) -> [ContractDrift] {
    let memory = image.addressedMemory
    let asked = Dictionary(grouping: asked, by: \.service)
    return records.filter { $0.kind == .service && $0.attributes.isC }.flatMap { record in
      asked[record.name, default: []].map { table in
        ContractDrift(
          contract: record.name, subject: .table,
          verdict: verdict(on: record, memory.flatMap { record.tableSize(in: $0) }, table))
      }
    }
  }

  private static func verdict(
    on record: Record, _ size: UInt64?, _ asked: PluginPolicy.Table
  ) -> Verdict {
    if let size, size < UInt64(asked.size) {
      return .drifted(expected: asked.size.counted("byte"), found: Int(size).counted("byte"))
    }
    let version = record.attributes.others.first { $0.key == "abi-version" }?.value
    switch (asked.version, version) {
    case (let asked?, let version?) where asked == version: return .fits
    case (let asked?, let version?):
      return .drifted(expected: "version \(asked)", found: "version \(version)")
    case (let asked?, nil):
      return .drifted(expected: "version \(asked)", found: "no version")
    case (nil, _):
      return .notVisible(
        "it is large enough; the order and the types of its functions cannot be read from the files"
      )
    }
  }
}
