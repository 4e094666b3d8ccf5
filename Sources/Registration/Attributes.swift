/// The `key=value` fields of a record, parsed once.
package struct Attributes: Hashable, Codable, Sendable {
  /// One key and its value.
  package struct Attribute: Hashable, Codable, Sendable {
    /// The text before the first `=`.
    package var key: String
    /// The text after it.
    package var value: String

    /// Pairs a key with a value.
    package init(key: String, value: String) { (self.key, self.value) = (key, value) }
  }

  /// The priority: larger first among entries that nothing else orders; 0 unless given.
  package var priority = 0

  /// `level=`: `basic` modules start before the others.
  package var level: String?

  /// `requires=`, in order of appearance: modules that must be present and start earlier.
  package var requires: [String] = []

  /// `after=`, in order of appearance: modules that start earlier if they are present.
  package var after: [String] = []

  /// `scope=`: the lifetime of a service's instances.
  package var scope: String?

  /// `name=`: tells several implementations of one service apart.
  package var name: String?

  /// `abi=`: the kind of structure that the context pointer leads to; nil for a Swift accessor.
  package var abi: String?

  /// Every other key, in order of appearance; a key may repeat.
  package var others: [Attribute] = []

  /// Creates an empty value, without attributes.
  package init() {}
}

// The attributes of a checked record by their meaning. `Attributes.Key` says which values there are.
extension Attributes {
  /// Whether the context leads to a structure that a C author wrote, not to one that an accessor expects.
  package var isC: Bool { abi != nil }

  /// The level that a module starts in.
  package var moduleLevel: ModuleLevel { level.flatMap(ModuleLevel.init) ?? .normal }

  /// `version=`: the version of the declared thing, numbers with dots between them.
  package var version: String? {
    get { values(of: "version").first }
    set {
      others.removeAll { $0.key == "version" }
      if let newValue { others.append(Attribute(key: "version", value: newValue)) }
    }
  }

  /// Whether a module initializes at the same time as others.
  package var isAsync: Bool { values(of: "async").first == "true" }

  /// The lifetime of an instance of a service. A table in C is always a singleton.
  package var serviceScope: Scope {
    abi == "c-table" ? .singleton : scope.flatMap(Scope.init) ?? .transient
  }

  /// `needs=`: the services that a service or module looks up while it is made or started.
  package var needs: [String] { values(of: "needs") }

  /// `shared=`: the group of entries that share one instance of an implementation; nil if this one has its own.
  package var shared: String? { others.first { $0.key == "shared" }?.value }

  /// The declarations of a target's actions.
  package var actions: [String] { values(of: "action") }

  /// The callers that a route answers.
  package var exposure: Exposure {
    values(of: "remote").first.flatMap { Exposure.byAttribute[$0] } ?? .local
  }

  /// The part of a URL that a route's pattern covers.
  package var extent: RouteExtent {
    values(of: "match").first.flatMap(RouteExtent.init) ?? .exact
  }

  /// The type that a route returns; empty for none.
  package var result: String { values(of: "returns").first ?? "" }

  private func values(of key: String) -> [String] {
    others.compactMap { $0.key == key ? $0.value : nil }
  }
}

extension Attributes {
  /// Returns whether an entry with these comes before one with others: by larger priority, then by later version.
  package func come(before other: Attributes) -> Bool {
    if priority != other.priority { return priority > other.priority }
    guard let own = version.flatMap({ Version($0) }) else { return false }
    return other.version.flatMap { Version($0) }.map { own > $0 } ?? true
  }
}
