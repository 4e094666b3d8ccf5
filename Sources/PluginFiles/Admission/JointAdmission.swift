internal import BinaryImage
internal import Registration

/// The joint judgement of files: which files need each other, which wait for each other, and their order.
struct JointAdmission {
  var files: [Admission.Judged]
  /// The files that each file needs.
  private(set) var needs: [[Int]]
  /// The files that load, providers first.
  private(set) var order: [Int] = []

  /// An entry with the library that has it: several plugins may bring one library along.
  private typealias Entry = (library: FileStamp.FileNumber?, record: Record)

  /// The entries that each file brings: its own, and the entries of libraries that come along.
  private let records: [[Entry]]
  /// The files that each file needs or follows.
  private var graph: ModuleGraph
  /// The number of unmet requirements of all files.
  private var unmet = 0
  /// The number of unmet requirements of each file.
  private var unmetOfFiles: [Int: Int] = [:]

  /// - Parameters:
  ///   - files: The files, each judged by itself.
  ///   - present: The host's modules, by name.
  init(of files: [Admission.Judged], _ present: [String: Attributes]) {
    self.files = files
    needs = [[Int]](repeating: [], count: files.count)
    graph = ModuleGraph(requires: needs, follows: needs)
    let records = Self.records(of: files)
    self.records = records
    addLibraries()
    let modules = files.indices.flatMap { file in
      records[file].map(\.record).filter { $0.kind == .module }.map { (file, $0) }
    }
    addRequirements(of: modules, present)
    addCycles(of: modules.filter { file, _ in !files[file].isSettled })
    graph.requires = needs
    settle(files.indices.filter { !isSound($0) })
    settle(noteDuplicates())
    noteThreads()
  }

  /// Returns the entries of each file, and of the libraries that come along with it and are no plugins themselves.
  private static func records(of files: [Admission.Judged]) -> [[Entry]] {
    let plugins = Set(files.compactMap { $0.manifest?.stamp.number })
    return files.map { file in
      let own: [Entry] = file.records.map { (file.manifest?.stamp.number, $0) }
      return file.brings.filter { !plugins.contains($0.library) }.reduce(into: own) { all, more in
        all += more.records.map { (more.library, $0) }
      }
    }
  }

  /// Returns whether nothing is wrong with a file so far.
  private func isSound(_ file: Int) -> Bool { files[file].refusals.isEmpty }

  /// Refuses files that need refused files, and puts the others in order.
  private mutating func settle(_ refused: [Int]) {
    follow(refused)
    order = files.indices.map(graph.predecessors).depthFirst.filter(isSound)
  }

  /// Adds the plugins among the libraries that come along to the needs of files.
  private mutating func addLibraries() {
    let positions = Dictionary(
      grouping: files.indices.filter { files[$0].manifest != nil },
      by: { files[$0].manifest?.stamp.number })
    // A plugin that is open already may have been unloaded.
    let known = Set((files.first?.host.plugins ?? []).map(\.stamp.number))
    for file in files.indices {
      let opened = files[file].closure?.members.filter { known.contains($0.stamp.number) } ?? []
      let numbers = Set((opened + (files[file].closure?.brought ?? [])).map(\.stamp.number))
      needs[file] = numbers.flatMap { positions[$0] ?? [] }.filter { $0 != file }.sorted()
    }
  }

  private mutating func addRequirements(
    of modules: [(file: Int, record: Record)], _ present: [String: Attributes]
  ) {
    // Of several files that declare a module, the first sound one provides it, or else the first. The host's win.
    var providers = Dictionary(
      (modules.filter { isSound($0.file) } + modules).map {
        ($0.record.name, (file: Optional($0.file), attributes: $0.record.attributes))
      }, uniquingKeysWith: { first, _ in first })
    providers.merge(present.mapValues { (nil, $0) }) { $1 }
    // A file has the modules of the libraries that come along, even if another file brings the same modules.
    let along = files.indices.map { file in
      let own = files[file].manifest?.stamp.number
      return Set(records[file].filter { $0.library != own }.map(\.record.name))
    }
    for (file, record) in modules where !files[file].isSettled {
      for name in record.attributes.after where !along[file].contains(name) {
        if let other = providers[name]?.file, other != file { graph.follows[file].append(other) }
      }
      for text in record.attributes.requires {
        let required = ModuleRequirement(text)
        guard let (provider, attributes) = providers[required.name] else {
          let names = nearest(to: required.name, in: providers.keys, after: unmet)
          let conflict = Conflict.missing(
            required, by: record.name, nobody: "neither the host nor another plugin",
            near: names.filter { $0 != record.name }, addition: "add the file that")
          refuse(file, conflict, expected: required.name, found: "no such module")
          continue
        }
        if let fault = required.fault(of: attributes.version) {
          let owner = provider.map { files[$0].path.fileName } ?? "the host"
          let conflict = Conflict.unfit(required, by: record.name, fault, of: owner)
          refuse(file, conflict, expected: text, found: attributes.version ?? "no version")
        } else if let provider, provider != file, !along[file].contains(required.name),
          !needs[file].contains(provider)
        {
          needs[file].append(provider)
        }
      }
    }
  }

  /// Refuses a file for an unmet requirement; lists only the first of many.
  private mutating func refuse(_ file: Int, _ conflict: Conflict, expected: String, found: String) {
    unmet += 1
    let count = unmetOfFiles[file, default: 0] + 1
    unmetOfFiles[file] = count
    guard count <= Scan.mostRefused else { return }
    files[file].refuse(
      .unmetRequirement, saying: conflict.message, expected: expected, found: found,
      remedy: conflict.remedy)
    guard count == Scan.mostRefused else { return }
    files[file].remarks.append("of its requirements that are not met, the first are listed")
  }

  private mutating func addCycles(of modules: [(file: Int, record: Record)]) {
    var graph = ModuleGraph(of: modules.map(\.record))
    graph.dropFollows(of: modules.indices.filter { !isSound(modules[$0].file) })
    for path in graph.cycles().paths {
      let members = path.map { modules[$0].record.name }
      // The words are the same in any order of the files and of their entries.
      let start = members.indices.min { members[$0] < members[$1] } ?? 0
      let names = Array(members[start...] + members[..<start])
      let owners = Set(path.map { modules[$0].file }).sorted()
      let conflict = Conflict.cycle(of: names, at: owners.map { files[$0].path.fileName })
      for owner in owners {
        files[owner].refuse(
          .cycle, saying: conflict.message, expected: "an order", found: names.shown(most: 8),
          remedy: conflict.remedy)
      }
    }
  }

  /// Notes duplicates: the host rejects the second of two entries that nothing tells apart. The plugin loads, unless
  /// the policy refuses that. Returns the refused plugins.
  private mutating func noteDuplicates() -> [Int] {
    var holders: [EntryIdentity: (file: Int, entry: Entry)] = [:]
    // A plugin that runs has its entries already.
    for file in order.filter({ files[$0].isRunning }) + order.filter({ !files[$0].isRunning }) {
      for entry in records[file] {
        let identities = EntryIdentity.all(of: entry.record)
        guard let first = identities.lazy.compactMap({ holders[$0] }).first else {
          for identity in identities { holders[identity] = (file, entry) }
          continue
        }
        // Both files bring the same library.
        if entry.library == first.entry.library, first.file != file { continue }
        let owner = files[first.file].path.fileName
        let conflict = Conflict.duplicate(entry.record, of: first.entry.record, at: owner)
        files[file].tell(conflict.message + ", so it will be rejected", remedy: conflict.remedy)
      }
    }
    return order.filter { !isSound($0) }
  }

  /// Notes each plugin that finds no room for its static thread storage, because of plugins that load before it.
  private mutating func noteThreads() {
    var all: [FileStamp.FileNumber: UInt64] = [:]
    let opened = files.first?.host.libraries.openedThreadBytes ?? 0
    for file in order where !files[file].threadBytes.isEmpty {
      let isFirst = all.isEmpty && opened == 0
      all.merge(files[file].threadBytes) { $1 }
      let sum = all.values.reduce(opened, +)
      guard !isFirst, sum > keptThreadBytes else { continue }
      files[file].remarks.append(
        "it and what is loaded before it want \(sum) bytes of static thread storage, but glibc keeps only "
          + "\(keptThreadBytes), unless GLIBC_TUNABLES says more: dlopen refuses one of them")
    }
  }

  /// Refuses files that need a refused file, and names the first cause.
  private mutating func follow(_ refused: [Int]) {
    var origins = Dictionary(uniqueKeysWithValues: refused.map { ($0, $0) })
    for (file, through) in graph.requirers(of: refused) {
      guard let origin = origins[through], let first = files[origin].refusals.first else {
        continue
      }
      origins[file] = origin
      let (provider, cause) = (files[through].path.fileName, files[origin].path.fileName)
      let why = origin == through ? "" : " because of \(cause)"
      files[file].refuse(
        .refusedProvider,
        "It needs \(provider), which would not load\(why): \(first.message.lowercasedFirst)",
        expected: provider, found: first.code, remedy: .wait(for: cause), cause: files[origin].path)
    }
  }
}

extension [Admission.Judged] {
  /// Refuses all versions of a plugin but the highest that may load, of equal ones the first. Returns the chosen files.
  mutating func chooseVersions() -> [Int] {
    var rivals: [String: [(file: Int, identity: PluginIdentity, version: Version)]] = [:]
    for (file, judged) in enumerated() where judged.refusals.isEmpty {
      let id = judged.identity?.id
      if let running = judged.host.plugins.first(where: {
        $0.runs && (judged.paths.has($0.path) || id != nil && $0.id == id)
      }), running.stamp.number != judged.manifest?.stamp.number {
        let isSame = judged.paths.has(running.path) && (running.id == nil || running.id == id)
        self[file].refuse(
          .superseded,
          isSame ? "An earlier build of it runs." : "\(running.id ?? "") runs: \(running.path).",
          found: judged.identity?.version,
          remedy: isSame ? .reload : .unloadOther, cause: running.path)
        continue
      }
      guard let identity = judged.identity, let version = Version(identity.version) else {
        continue
      }
      rivals[identity.id, default: []].append((file, identity, version))
    }
    var chosen: [Int] = []
    for versions in rivals.values where versions.count > 1 {
      let highest = versions.dropFirst().reduce(versions[0]) { $0.version < $1.version ? $1 : $0 }
      chosen.append(highest.file)
      let path = self[highest.file].path
      for other in versions where other.file != highest.file {
        self[other.file].refuse(
          .superseded, "\(highest.identity.title) loads instead: \(path).",
          expected: highest.identity.version, found: other.identity.version,
          remedy: .removeVersion, cause: path)
      }
    }
    return chosen
  }
}
