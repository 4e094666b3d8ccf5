internal import BinaryImage
internal import Registration

/// What a set of files declares, as nodes and what leads from one to another.
///
/// All text is escaped already: it comes from files that may be hostile.
struct Picture {
  /// Something that is drawn by itself.
  struct Node {
    enum Kind: String {
      case module, service, implementation, target, route
      /// A third party's entry.
      case other
      /// A module that is required, and that no file declares.
      case missing
    }

    var kind: Kind
    var name: String
    /// What implements a module, target or route, where the entry says so.
    var detail = ""
    var attributes = ""
    /// The position of the file that declares it; nil for what several do, or none.
    var file: Int?
    /// `libshop.so BeehiveRecords[0]`; nil where it has no entry.
    var place: String?
    /// Whether it is one of those that wait for each other.
    var isInCycle = false
    /// The positions of the findings that concern it.
    var findings: [Int] = []
  }

  /// What is wrong, as `section-dump verify` says it.
  struct Found {
    let finding: Finding
    /// The nodes that it concerns, the one at its place first.
    let nodes: [Int]

    /// The entry or file.
    var place: String { finding.place.description.escaped }
    /// `libshop.so BeehiveMods[0]: error: …; remedy`
    var line: String { "\(place): \(words)" }
    /// The same at its place.
    var words: String {
      "\(finding.level.rawValue): \(finding.message); \(finding.remedy)".escaped
    }
  }

  struct Edge {
    enum Kind: String {
      case requires
      /// As `requires`, where the other one is there.
      case after
      /// From an implementation to its service.
      case provides
    }

    var from: Int
    var to: Int
    var kind: Kind
    var isInCycle = false
  }

  /// A file, or one image in it; those for several platforms are never loaded together.
  struct File {
    var name: String
    var machine: String
    var nodes: [Int] = []

    var title: String { machine.isEmpty ? name : "\(name)  \(machine)" }
  }

  private(set) var nodes: [Node] = []
  private(set) var edges: [Edge] = []
  private(set) var files: [File] = []
  /// What is wrong, with nodes or without.
  private(set) var findings: [Found] = []
  /// What could not be read.
  let problems: [Finding]

  private var filePositions: [String: Int] = [:]
  private var nodesOfEntries: [Place: Int] = [:]

  /// A survey that has read types.
  init(of survey: Survey) {
    problems = survey.problems
    let contradictions = survey.contradictions
    for part in contradictions { draw(part.declared, part.cycles) }
    attach(survey.findings(with: contradictions))
  }

  /// The nodes that are in no file.
  var freeNodes: [Int] { nodes.indices.filter { nodes[$0].file == nil } }

  /// The findings that no node shows.
  var notes: [Found] { findings.filter(\.nodes.isEmpty) }

  private mutating func draw(_ declared: [Survey.Declared], _ cycles: [[Survey.Declared]]) {
    let firstEdge = edges.count
    let drawn = declared.map { (entry: $0, node: add($0)) }
    let modules = drawn.filter { $0.entry.record.kind == .module }
    let firstModule = Dictionary(modules.map { ($0.entry.record.name, $0.node) }) { first, _ in
      first
    }
    let services = drawn.filter { $0.entry.record.kind == .service }
    for service in services.groups(by: \.entry.record.name) {
      draw(service[0].entry.record.name, of: service.map(\.node))
    }
    draw(modules, firstModule)
    mark(cycles, firstModule, from: firstEdge)
  }

  /// The node of an entry, in its file.
  private mutating func add(_ entry: Survey.Declared) -> Int {
    let record = entry.record
    let implementation = record.implementation?.escaped ?? ""
    let isService = record.kind == .service
    let kind = isService ? .implementation : Node.Kind(rawValue: record.kind.description)
    var node = Node(
      kind: kind ?? .other, name: isService ? implementation : record.name.escaped,
      detail: isService ? "" : implementation,
      attributes: record.attributes.words?.escaped ?? "",
      file: file(of: entry), place: entry.place.description.escaped)
    if node.name.isEmpty { node.name = "(\(record.attributes.name?.escaped ?? "without a name"))" }
    let position = add(node)
    nodesOfEntries[entry.place] = position
    return position
  }

  private mutating func add(_ node: Node) -> Int {
    if let file = node.file { files[file].nodes.append(nodes.count) }
    nodes.append(node)
    return nodes.count - 1
  }

  private mutating func file(of entry: Survey.Declared) -> Int {
    let name = entry.place.file.escaped
    if let position = filePositions[name] { return position }
    filePositions[name] = files.count
    files.append(File(name: name, machine: entry.platform.machine.escaped))
    return files.count - 1
  }

  /// A service is in the file that has all of its implementations, else beside the files.
  private mutating func draw(_ service: String, of implementations: [Int]) {
    let homes = Set(implementations.map { nodes[$0].file })
    let node = add(
      Node(
        kind: .service, name: service.escaped, file: homes.count == 1 ? homes.first ?? nil : nil))
    for implementation in implementations {
      edges.append(Edge(from: implementation, to: node, kind: .provides))
    }
  }

  /// What modules require and follow; what is required and not declared is missing.
  private mutating func draw(
    _ modules: [(entry: Survey.Declared, node: Int)], _ declared: [String: Int]
  ) {
    var declared = declared
    for (entry, node) in modules {
      for name in entry.record.attributes.requiredNames {
        let other = declared[name] ?? add(Node(kind: .missing, name: name.escaped))
        declared[name] = other
        edges.append(Edge(from: node, to: other, kind: .requires))
      }
    }
    for (entry, node) in modules {
      for name in entry.record.attributes.after {
        guard let other = declared[name] else { continue }
        edges.append(Edge(from: node, to: other, kind: .after))
      }
    }
  }

  /// Marks the modules of cycles, and the edges between them, which begin at `firstEdge`.
  private mutating func mark(
    _ cycles: [[Survey.Declared]], _ positions: [String: Int], from firstEdge: Int
  ) {
    var inCycles: Set<[Int]> = []
    for cycle in cycles {
      let members = cycle.compactMap { positions[$0.record.name] }
      for (member, next) in zip(members, members.dropFirst() + members.prefix(1)) {
        nodes[member].isInCycle = true
        inCycles.insert([member, next])
      }
    }
    guard !inCycles.isEmpty else { return }
    for index in edges.indices[firstEdge...]
    where inCycles.contains([edges[index].from, edges[index].to]) {
      edges[index].isInCycle = edges[index].kind != .provides
    }
  }

  private mutating func attach(_ found: [Finding]) {
    var missing: [Int: [String: [Int]]] = [:]
    for edge in edges where nodes[edge.to].kind == .missing {
      missing[edge.from, default: [:]][nodes[edge.to].name, default: []].append(edge.to)
    }
    for finding in found {
      var concerned = ([finding.place] + finding.others).compactMap { nodesOfEntries[$0] }
      if let name = finding.missing?.escaped, let node = concerned.first {
        concerned += missing[node]?[name] ?? []
      }
      for node in concerned { nodes[node].findings.append(findings.count) }
      findings.append(Found(finding: finding, nodes: concerned))
    }
  }
}

extension Picture {
  /// `3 files, 5 modules, 2 services, 1 missing, 2 in cycles, 3 findings`
  var summary: String {
    func count(_ number: Int, _ one: String, _ many: String? = nil) -> [String] {
      number == 0 ? [] : [number.counted(one, many)]
    }
    let kinds = Dictionary(grouping: nodes, by: \.kind).mapValues(\.count)
    var parts = count(files.count, "file")
    for kind in [Node.Kind.module, .service, .implementation, .target, .route] {
      parts += count(kinds[kind] ?? 0, kind.rawValue)
    }
    parts += count(kinds[.missing] ?? 0, "missing", "missing")
    parts += count(nodes.count(where: \.isInCycle), "in a cycle", "in cycles")
    parts += count(findings.count, "finding")
    return parts.isEmpty ? "no entries" : parts.joined(separator: ", ")
  }
}
