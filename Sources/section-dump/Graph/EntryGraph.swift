internal import BinaryImage
internal import Registration

/// The graph of what a set of files declares.
///
/// All text in it is escaped, because it comes from files that may be hostile.
struct EntryGraph {
  /// An entry, a service, or something that is missing.
  struct Node {
    enum Kind: String {
      case module, service, implementation, target, route
      /// The identity of a plugin.
      case plugin
      /// A third party's entry.
      case other
      /// A required module or a needed service that no file declares.
      case missing
    }

    var kind: Kind
    var name: String
    /// The implementation that a module, target or route names, or the kind of something missing.
    var detail = ""
    var attributes = ""
    /// The position of the file that declares the node; nil if several files do, or none.
    var file: Int?
    /// `libshop.so BeehiveRecords[0]`; nil if the node has no entry.
    var place: String?
    /// Whether it is a module of a cycle.
    var isInCycle = false
    /// The positions of the findings that concern the node.
    var findings: [Int] = []
  }

  struct Edge {
    enum Kind: String {
      case requires
      /// Like `requires`, if the other module is there.
      case after
      /// From an implementation to its service.
      case provides
      /// From an implementation or a module to a service that it looks up.
      case needs
    }

    var from: Int
    var to: Int
    var kind: Kind
    var isInCycle = false
  }

  private(set) var nodes: [Node] = []
  private(set) var edges: [Edge] = []
  /// Files, or images in them. Images for different platforms are never loaded together.
  private(set) var files: [(name: String, machine: String, nodes: [Int])] = []
  /// The findings of `verify`, each with the nodes that it concerns. The node at the finding's location is first.
  private(set) var findings: [(finding: Finding, nodes: [Int])] = []
  /// The findings on what could not be read.
  let problems: [Finding]

  private var nodesOfEntries: [Place: Int] = [:]
  /// The missing modules and services that a node requires or needs, by name.
  private var missing: [Int: [String: Int]] = [:]

  /// Creates the graph of a file set whose types were read.
  init(of set: FileSet) {
    problems = set.problems
    let contradictions = set.contradictions
    for part in contradictions { draw(part.declared, part.cycles) }
    for finding in set.findings(with: contradictions) {
      var concerned = ([finding.place] + finding.others).compactMap { nodesOfEntries[$0] }
      if let name = finding.missing, let node = concerned.first, let other = missing[node]?[name] {
        concerned.append(other)
      }
      for node in concerned { nodes[node].findings.append(findings.count) }
      findings.append((finding, concerned))
    }
  }

  private mutating func draw(_ declared: [FileSet.Declared], _ cycles: [[FileSet.Declared]]) {
    var drawn: [(record: Record, node: Int)] = []
    for entries in declared.groups(by: \.place.file) {
      let machine = entries[0].platform.machine.escaped
      files.append((entries[0].place.file.escaped, machine, []))
      for entry in entries { drawn.append((entry.record, add(entry))) }
    }
    var services: [String: Int] = [:]
    for service in drawn.filter({ $0.record.kind == .service }).groups(by: \.record.name) {
      // A service is drawn in the file that has all its implementations, else outside of the files.
      let homes = Set(service.map { nodes[$0.node].file })
      let home = homes.count == 1 ? homes.first ?? nil : nil
      let name = service[0].record.name
      let node = add(Node(kind: .service, name: name.escaped, file: home))
      services[name] = node
      for entry in service { edges.append(Edge(from: entry.node, to: node, kind: .provides)) }
    }
    let modules = drawn.filter { $0.record.kind == .module }
    var positions = Dictionary(modules.map { ($0.record.name, $0.node) }) { first, _ in first }
    let inCycles = mark(cycles.map { $0.compactMap { positions[$0.record.name] } })
    for kind in [Edge.Kind.requires, .after] {
      for (record, node) in modules {
        let attributes = record.attributes
        for name in kind == .after ? attributes.after : attributes.requiredNames {
          if positions[name] == nil, kind == .requires {
            positions[name] = add(Node(kind: .missing, name: name.escaped, detail: "module"))
          }
          guard let other = positions[name] else { continue }
          if nodes[other].kind == .missing { missing[node, default: [:]][name] = other }
          let isInCycle = inCycles.contains([node, other])
          edges.append(Edge(from: node, to: other, kind: kind, isInCycle: isInCycle))
        }
      }
    }
    for (entry, answers) in zip(drawn, ServiceNeeds(of: drawn.map(\.record)).answers) {
      for (need, service, _) in answers {
        let name = service.map { drawn[$0].record.name } ?? need
        let other =
          services[name] ?? add(Node(kind: .missing, name: name.escaped, detail: "service"))
        services[name] = other
        if service == nil { missing[entry.node, default: [:]][name] = other }
        edges.append(Edge(from: entry.node, to: other, kind: .needs))
      }
    }
  }

  /// Adds the node of an entry to the last file.
  private mutating func add(_ entry: FileSet.Declared) -> Int {
    let record = entry.record
    let implementation = record.implementation?.escaped ?? ""
    let isService = record.kind == .service
    let kind = isService ? .implementation : Node.Kind(rawValue: record.kind.description)
    var node = Node(
      kind: kind ?? .other, name: isService ? implementation : record.name.escaped,
      detail: isService ? "" : implementation,
      attributes: record.attributes.words?.escaped ?? "",
      file: files.count - 1, place: entry.place.description.escaped)
    if node.name.isEmpty { node.name = "(\(record.attributes.name?.escaped ?? "without a name"))" }
    nodesOfEntries[entry.place] = nodes.count
    return add(node)
  }

  private mutating func add(_ node: Node) -> Int {
    if let file = node.file { files[file].nodes.append(nodes.count) }
    nodes.append(node)
    return nodes.count - 1
  }

  /// Marks the modules of cycles. Returns pairs of a module and the one that it waits for.
  private mutating func mark(_ cycles: [[Int]]) -> Set<[Int]> {
    var pairs: Set<[Int]> = []
    for cycle in cycles {
      for (member, next) in zip(cycle, cycle.dropFirst() + cycle.prefix(1)) {
        nodes[member].isInCycle = true
        pairs.insert([member, next])
      }
    }
    return pairs
  }
}

extension EntryGraph {
  /// `3 files, 5 modules, 2 services, 1 missing, 2 in cycles, 3 findings`
  var summary: String {
    let kinds = Dictionary(grouping: nodes, by: \.kind).mapValues(\.count)
    let named: [Node.Kind] = [.module, .service, .implementation, .target, .route]
    let counts: [(number: Int, one: String, many: String?)] =
      [(files.count, "file", nil)] + named.map { (kinds[$0] ?? 0, $0.rawValue, nil) } + [
        (kinds[.missing] ?? 0, "missing", "missing"),
        (nodes.count(where: \.isInCycle), "in a cycle", "in cycles"),
        (findings.count, "finding", nil),
      ]
    let parts = counts.filter { $0.number > 0 }.map { $0.number.counted($0.one, $0.many) }
    return parts.isEmpty ? "no entries" : parts.joined(separator: ", ")
  }

  /// Writes the graph as one JSON document.
  func writeDocument(to sink: ByteSink) {
    FieldWriter.document(to: sink) { json in
      json.string(key: "summary", summary)
      json.list(key: "files", files) { json, file in
        json.string(key: "name", file.name)
        json.string(key: "machine", file.machine)
      }
      json.list(key: "nodes", nodes) { json, node in
        json.string(key: "kind", node.kind.rawValue)
        json.string(key: "name", node.name)
        json.string(key: "caption", node.caption)
        json.string(key: "attributes", node.attributes)
        json.string(key: "place", node.place)
        json.number(key: "file", node.file)
        json.boolean(key: "isInCycle", node.isInCycle)
        json.array(key: "findings", node.findings) { $1.number($0) }
      }
      json.list(key: "edges", edges) { json, edge in
        json.string(key: "kind", edge.kind.rawValue)
        json.number(key: "from", edge.from)
        json.number(key: "to", edge.to)
        json.boolean(key: "isInCycle", edge.isInCycle)
      }
      json.list(key: "findings", findings) { json, found in
        let finding = found.finding
        json.string(key: "code", finding.code)
        json.string(key: "level", finding.level.rawValue)
        json.string(key: "place", finding.placeText)
        json.string(key: "message", finding.message.escaped)
        json.string(key: "remedy", finding.remedy.description.escaped)
        json.array(key: "nodes", found.nodes) { $1.number($0) }
      }
      json.array(key: "problems", problems) { $0.writeProblem(to: &$1) }
    }
  }
}
