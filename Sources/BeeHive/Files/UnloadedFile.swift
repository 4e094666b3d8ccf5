package import Registration

/// What a file declares that is not loaded: a library that a build has just made, a plugin to come.
///
///     let file = try UnloadedFile("libshop.so")
///     for entry in file.entries { print(entry) }
///
/// No code of the file runs. The entries are those that a Hive would find in it, by the same rules; none is
/// bound, since only a running process has types.
public struct UnloadedFile: Sendable {
  /// The path, as it was given.
  package let path: String
  /// What it declares: first the well-formed entries in their order, then those that every Hive rejects.
  public let entries: [Entry]

  /// Reads a library, a program or an object file in ELF.
  ///
  /// - Parameter path: The file's path.
  /// - Throws: `ImageError` where the file cannot be read, or is no ELF file.
  public init(_ path: String) throws(ImageError) {
    let file = try ELFFile(path: path)
    try file.checkExtents()
    let scan = try Scan(of: file)
    self.path = path
    entries = Entry.unloaded(scan.records, scan.rejections, .notYetLooked)
  }

  /// Says that the file lacks an entry, what it has instead, and which names are nearly the same.
  ///
  /// - Parameters:
  ///   - kind: A module, a service, …
  ///   - name: Its name; that of a type may leave out what it is qualified with.
  ///   - implementation: What implements it; nil for whatever does.
  /// - Returns: One sentence; nil where the file declares the entry.
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
  /// The entries of a file that is not loaded, without the identity of a plugin: first the well-formed ones, which are
  /// not bound for a reason, then those that every Hive rejects.
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
