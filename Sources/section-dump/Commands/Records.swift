internal import ArgumentParser
internal import BinaryImage
internal import Registration

/// `section-dump [records] PATH…`: what each file would register.
struct Records: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "records", abstract: "Shows what each file would register (default).")

  @OptionGroup var inputs: InputOptions
  @OptionGroup var output: OutputOptions

  @Option(
    name: .customLong("module"),
    help: ArgumentHelp("Show modules whose name matches.", valueName: "glob"))
  var modules: [String] = []

  @Option(
    name: .customLong("service"),
    help: ArgumentHelp("Show services whose name matches.", valueName: "glob"))
  var services: [String] = []

  @Option(
    name: .customLong("require"),
    help: ArgumentHelp(
      "Fail with status 1 unless one of the files has this entry.",
      valueName: "module:name|service:name"))
  var requirements: [Requirement] = []

  func run() throws {
    let dump = RecordDump(
      modules: modules.map(NamePattern.init), services: services.map(NamePattern.init),
      unmet: requirements)
    var run = DumpRun(dump, inputs.values, output.values)
    try run { dump in
      dump.unmet.map { "no file has the required \($0.kind) \($0.name)" }
    }
    .end()
  }
}

/// An entry that one of the files must have.
struct Requirement: ExpressibleByArgument, Hashable {
  var kind: RecordKind
  var name: String

  init?(argument: String) {
    for kind in [RecordKind.module, .service] {
      let prefix = "\(kind):"
      guard argument.hasPrefix(prefix), argument.count > prefix.count else { continue }
      self.kind = kind
      name = String(argument.dropFirst(prefix.count))
      return
    }
    return nil
  }
}

/// The entries of each image.
struct RecordDump: Dump {
  static let contentKey = "records"
  static let columns = [
    "kind", "name", "implementation", "priority", "attributes", "section", "index", "address",
    "offset", "encoding", "resolution", "accessor",
  ]

  var modules: [NamePattern] = []
  var services: [NamePattern] = []
  /// What no file so far had.
  var unmet: [Requirement] = []

  var emptyNote: String { modules.isEmpty && services.isEmpty ? "no entries" : "no such entries" }

  mutating func read(
    _ image: any FileImage, problems: inout [Problem]
  ) throws(ImageError) -> [Record] {
    let scan = try RecordScanner.scan(image)
    problems += scan.rejections.map(Problem.init)
    unmet.removeAll { required in
      scan.records.contains { $0.kind == required.kind && $0.name == required.name }
    }
    guard !modules.isEmpty || !services.isEmpty else { return scan.records }
    return scan.records.filter { record in
      switch record.kind {
      case .module: modules.contains { $0.matches(record.name) }
      case .service: services.contains { $0.matches(record.name) }
      default: false
      }
    }
  }

  func isEmpty(_ records: [Record]) -> Bool { records.isEmpty }

  func write(
    _ records: [Record], of image: any FileImage, to json: inout JSONWriter,
    problems: inout [Problem]
  ) {
    for record in records { record.write(to: &json) }
  }

  func writeRows(
    _ records: [Record], of image: any FileImage, problems: inout [Problem],
    _ row: ([String]) -> Void
  ) {
    for record in records {
      let origin = record.origin
      row([
        record.kind.description, record.name, record.implementation ?? "",
        String(record.attributes.priority), record.attributes.words(withPriority: false),
        origin.section, String(origin.index), String(hexadecimal: origin.address.rawValue),
        origin.offset.map { String(hexadecimal: $0.rawValue) } ?? "", record.encoding.rawValue,
        record.resolution.rawValue, record.accessorName ?? "",
      ])
    }
  }

  func writeTable(
    _ records: [Record], of image: any FileImage, to sink: ByteSink, _ style: Style,
    problems: inout [Problem]
  ) {
    var table = Table(["KIND", "NAME", "IMPLEMENTATION", "ATTRIBUTES", "WHERE"])
    for record in records {
      table.add([
        record.kind.description, record.name, record.implementation ?? "–",
        record.attributes.words(withPriority: true), record.place,
      ])
    }
    table.write(to: sink, style)
  }
}

extension Record {
  /// The symbol or address of the factory; nil where there is none.
  fileprivate var accessorName: String? {
    guard let accessor, accessor.target != .null else { return nil }
    if let symbol = accessor.symbol { return symbol }
    return switch accessor.target {
    case .address(let address): String(hexadecimal: address.rawValue)
    case .section(_, let offset): String(hexadecimal: offset)
    case .imported(let symbol): symbol
    case .foreign(let address): String(hexadecimal: UInt64(address.rawValue))
    case .null, .unresolvable: nil
    }
  }

  /// `BeehiveMods[0] 0x30a0 → 0x560`
  fileprivate var place: String {
    let slot = "\(origin.section)[\(origin.index)] \(String(hexadecimal: origin.address.rawValue))"
    guard let textAddress else { return slot }
    return "\(slot) → \(String(hexadecimal: textAddress.rawValue))"
  }

  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      json.key("kind")
      json.string(kind.description)
      json.key("name")
      json.string(name)
      json.key("implementation")
      json.string(implementation)
      json.key("priority")
      json.number(attributes.priority)
      json.key("attributes")
      attributes.write(to: &json)
      json.key("section")
      json.string(origin.section)
      json.key("index")
      json.number(origin.index)
      json.key("address")
      json.hexadecimal(origin.address.rawValue)
      json.key("offset")
      json.hexadecimal(origin.offset?.rawValue)
      json.key("encoding")
      json.string(encoding.rawValue)
      json.key("resolution")
      json.string(resolution.rawValue)
      json.key("accessor")
      json.string(accessorName)
    }
  }
}

extension Attributes {
  /// `priority=10 requires=log`
  fileprivate func words(withPriority: Bool) -> String {
    var words = withPriority && priority != 0 ? ["priority=\(priority)"] : []
    words += level.map { ["level=\($0)"] } ?? []
    words += requires.map { "requires=\($0)" } + after.map { "after=\($0)" }
    for (key, value) in [("scope", scope), ("name", name), ("abi", abi)] {
      words += value.map { ["\(key)=\($0)"] } ?? []
    }
    words += others.map { "\($0.key)=\($0.value)" }
    return words.joined(separator: " ")
  }

  /// An object without `priority`; keys that may repeat, and those that do, have arrays.
  fileprivate func write(to json: inout JSONWriter) {
    json.object { json in
      let single = [("level", level), ("scope", scope), ("name", name), ("abi", abi)]
      for case (let key, let value?) in single {
        json.key(key)
        json.string(value)
      }
      for (key, values) in [("requires", requires), ("after", after)] where !values.isEmpty {
        json.key(key)
        json.array(values)
      }
      var values: [String: [String]] = [:]
      for attribute in others { values[attribute.key, default: []].append(attribute.value) }
      for attribute in others {
        guard let all = values.removeValue(forKey: attribute.key) else { continue }
        json.key(attribute.key)
        if all.count == 1 {
          json.string(attribute.value)
        } else {
          json.array(all)
        }
      }
    }
  }
}
