package import BinaryImage
package import Registration

/// The plugins that a host would load, in their order, and the reasons against the others.
public struct AdmissionReport: Hashable, Sendable, Encodable, CustomStringConvertible {
  /// One plugin.
  public struct Plugin: Hashable, Sendable, Encodable {
    /// The path of its file.
    public var path: String
    /// Whether it would load.
    public var loads: Bool
    /// Its place among the plugins that load, from 1 on.
    package var order: Int?
    /// The identity; nil if the file states none.
    package var identity: PluginIdentity?
    /// Its entries: `module shop`, `service Greeter`.
    package var offers: [String]
    /// Whether a Hive has entries of it once it is loaded.
    package let isRegistered: Bool
    /// The paths of plugins that load before it, because it needs them.
    package var needs: [String]
    /// The reasons that it would not load: the first cause, then the others.
    public var refusals: [PluginRefusal]
    /// Remarks that are good to know, but are no reasons against it.
    package var remarks: [String]
    /// The parts of it that stay when it is unloaded.
    package var remains: [String]
    /// The files that loading it maps; nil if it would not load.
    package let closure: LoadClosure?
    /// The stamp of its file; nil if that cannot be read.
    package let stamp: FileStamp?
    fileprivate let otherPaths: [String]
    /// Its paths, first the one that is loaded.
    package var paths: [String] { [path] + otherPaths }

    /// The plugin as a value of JSON.
    package var value: JSONValue {
      .object([
        ("path", .string(path)), ("identity", identity?.value ?? .null), ("loads", .boolean(loads)),
        ("order", order.map { .integer(Int64($0)) } ?? .null), ("offers", .texts(offers)),
        ("needs", .texts(needs)), ("refusals", .array(refusals.map(\.value))),
        ("remarks", .texts(remarks)), ("remains", .texts(remains)),
      ])
    }

    /// Writes all of it, with null if it has no order.
    public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
  }

  /// The path of the program.
  package var host: String
  /// The machine that the program is made for.
  package var machine: String
  /// The number of libraries that the program has.
  package var libraries: Int
  /// Libraries of the host that are not found or cannot be read; symbols are not judged then.
  public var problems: [String]
  /// The plugins, in the order of finding them.
  public var plugins: [Plugin]

  init(on host: AdmissionHost, _ joint: JointAdmission) {
    (self.host, machine, libraries) = (host.path, host.identity.machineTitle, host.count)
    problems = host.problems.map(\.description)
    let places = Dictionary(uniqueKeysWithValues: joint.order.enumerated().map { ($1, $0 + 1) })
    plugins = joint.files.enumerated().map { position, file in
      Plugin(
        path: file.path, loads: file.refusals.isEmpty, order: places[position],
        identity: file.identity,
        offers: file.records.filter { $0.kind != .plugin }.map { "\($0.kind) \($0.name)" },
        isRegistered: file.records.contains { $0.kind.isRegistered } || !file.rejections.isEmpty,
        needs: joint.needs[position].map { joint.files[$0].path }, refusals: file.refusals,
        remarks: file.remarks, remains: file.remains,
        closure: file.refusals.isEmpty ? file.closure : nil,
        stamp: file.manifest?.stamp, otherPaths: file.otherPaths)
    }
  }

  /// The paths of the plugins that would load, providers first.
  package var admitted: [String] { loading.map(\.path) }

  /// The plugins that would load, providers first.
  package var loading: [Plugin] {
    plugins.filter(\.loads).sorted { ($0.order ?? 0) < ($1.order ?? 0) }
  }

  /// The report as an explanation for people.
  public var description: String {
    let loading = self.loading
    let refused = plugins.filter { !$0.loads }
    // Paths tell files of one name in several folders apart.
    let names = Dictionary(grouping: plugins, by: \.path.fileName)
    func title(_ path: String) -> String {
      names[path.fileName, default: []].count > 1 ? path : path.fileName
    }
    var lines = ["Host: \(host), \(machine), with \(libraries) libraries"]
    for problem in problems { lines += "Symbols are not judged: \(problem)".wrapped(by: 2) }
    lines.append("")
    if loading.isEmpty {
      lines.append(plugins.isEmpty ? "No plugin is there." : "No plugin would load.")
    } else {
      let all = plugins.count == 1 ? "1 plugin" : "\(plugins.count) plugins"
      let order = loading.count > 1 ? ", in this order" : ""
      lines.append("\(loading.count) of \(all) would load\(order):")
    }
    let rows = loading.map { plugin in
      let needs = plugin.needs.map(title).shown(most: 3)
      let offers = plugin.offers.isEmpty ? "nothing" : plugin.offers.shown(most: 3)
      return [
        String(plugin.order ?? 0), title(plugin.path),
        (plugin.identity.map { "\($0.title): " } ?? "") + offers
          + (needs.isEmpty ? "" : "; after \(needs), which it needs"),
      ]
    }
    for (plugin, row) in zip(loading, rows.aligned(firstToTheRight: true)) {
      lines.append("  \(row)")
      for remark in plugin.remarks { lines += "note: \(remark)".wrapped(by: 5) }
      if plugin.remains.count > 1 {
        lines += "unloading leaves \(plugin.remains.shown(most: 9))".wrapped(by: 5)
      }
    }
    if !refused.isEmpty { lines += ["", "\(refused.count) would not:"] }
    for plugin in refused {
      let identity = plugin.identity.map { " (\($0.title))" } ?? ""
      lines.append("  \(title(plugin.path))\(identity)")
      defer { for remark in plugin.remarks { lines += "note: \(remark)".wrapped(by: 4) } }
      for (index, refusal) in plugin.refusals.enumerated() {
        let start = index > 0 ? "Also: " : ""
        lines += "\(start)\(refusal.message) [\(refusal.code)]".wrapped(by: 4)
        lines += "→ \(refusal.remedy)".wrapped(by: 6)
      }
    }
    return lines.map(\.escaped).joined(separator: "\n")
  }
}

extension AdmissionReport {
  /// The report as JSON, for hosts without an encoder: the same that `JSONEncoder` makes of it.
  public var json: String { "\(value.text)\n" }

  /// The report as a value of JSON.
  package var value: JSONValue { .object(members) }

  /// Writes what ``json`` has. All keys are there, with null for nil.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

  /// The members of that value.
  package var members: [(key: String, value: JSONValue)] {
    [
      ("host", .string(host)), ("machine", .string(machine)),
      ("libraries", .integer(Int64(libraries))), ("problems", .texts(problems)),
      ("plugins", .array(plugins.map(\.value))),
    ]
  }
}

extension PluginRefusal {
  fileprivate var value: JSONValue {
    let members = [
      ("code", code), ("message", message), ("expected", expected), ("found", found),
      ("remedy", remedy), ("cause", cause),
    ]
    return .object(members.map { ($0, $1.map(JSONValue.string) ?? .null) })
  }

  /// Writes all of it, with null for what is missing.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
}
