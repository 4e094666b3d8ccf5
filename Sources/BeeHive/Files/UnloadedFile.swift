package import Registration

/// The entries of a file that is not loaded, such as a fresh build or a plugin to come.
///
///     let file = try UnloadedFile("libshop.so")
///     for entry in file.entries { print(entry) }
///
/// No code of the file runs. The entries are those that a Hive would find in it, by the same rules. None is bound,
/// because only a running process has types.
public struct UnloadedFile: Sendable {
  /// The path, as it was given.
  package let path: String
  /// The entries: first the well-formed ones in their order, then those that every Hive rejects.
  public let entries: [Entry]

  /// Reads a library, a program or an object file in ELF.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: `ImageError` if the file cannot be read, or is not an ELF file.
  public init(_ path: String) throws(ImageError) {
    let file = try ELFFile(path: path)
    try file.checkExtents()
    let scan = try Scan(of: file)
    self.path = path
    entries = Entry.unloaded(scan.records, scan.rejections, .notYetLooked)
  }

  /// Describes the lack of an entry: what the file has instead, and names that are nearly the same.
  ///
  /// - Parameters:
  ///   - kind: A module, a service, …
  ///   - name: Its name; a type's name may leave out its qualification.
  ///   - implementation: The name of its implementation; nil for any.
  /// - Returns: One sentence; nil if the file declares the entry.
  public func lack(
    of kind: RecordKind, _ name: String, as implementation: String? = nil
  ) -> String? {
    let wanted = "\(kind) \(name)" + (implementation.map { " → \($0)" } ?? "")
    let accepted = entries.filter { if case .accepted = $0.state { true } else { false } }
    let isThere = accepted.contains { entry in
      entry.kind == kind && TypeName.couldMeanTheSame(name, entry.name)
        && implementation.map { TypeName.couldMeanTheSame($0, entry.implementation ?? "") } ?? true
    }
    guard !isThere else { return nil }
    let names = accepted.flatMap { [$0.name] + TypeName($0.name).suffixes }
    let question = names.contains(name) ? "" : near(name, in: names)
    let found = entries.prefix(16).map { entry in
      if case .rejected(let problem) = entry.state { return "\(entry.source) rejected: \(problem)" }
      return "\(entry.kind) \(entry.name)" + (entry.implementation.map { " → \($0)" } ?? "")
    }
    let rest = entries.count > found.count ? [" and \(entries.count - found.count) more"] : []
    let all = found.isEmpty ? "nothing" : (found + rest).joined(separator: ", ")
    return "\(path) does not declare \(wanted); it declares \(all)\(question)".escaped
  }
}

extension Entry {
  /// Returns the entries of a file that is not loaded, without the identity of a plugin: first the well-formed ones,
  /// unbound for `reason`, then those that every Hive rejects.
  package static func unloaded(
    _ records: [Record], _ rejections: [Rejection], _ reason: Problem
  ) -> [Entry] {
    records.filter { $0.kind != .plugin }.map { record in
      Entry(
        kind: record.kind, name: record.name, implementation: record.implementation,
        attributes: record.attributes, source: .image(record.origin), state: .accepted(reason))
    }
      + rejections.map { rejection in
        Entry(
          kind: rejection.kind, name: rejection.name ?? "", attributes: Attributes(),
          source: .image(rejection.origin), state: .rejected(Problem(rejection)))
      }
  }
}
