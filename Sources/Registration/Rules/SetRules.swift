internal import BinaryImage

/// The marks that make two entries the same. Of two entries that share an identity, the later is a duplicate.
///
/// A process compares services by their types instead, if it knows the types.
package enum EntryIdentity: Hashable, Sendable {
  /// A module, a target.
  case named(RecordKind, String)
  /// A service. Its given name, its priority and its language also tell it from others of its name.
  case service(String, given: String?, priority: Int, isC: Bool)
  /// One form of a route's pattern.
  case route(RouteShape, priority: Int)

  /// Returns the identities of a well-formed entry. A route has one for each form of its pattern, an entry of a third
  /// party has none. `pattern` is what a route's name says.
  package static func all(
    of kind: RecordKind, _ name: String, _ attributes: Attributes, pattern: PatternParts?
  ) -> [Self] {
    switch kind {
    case .module, .target: return [.named(kind, name)]
    case .service:
      return [
        .service(name, given: attributes.name, priority: attributes.priority, isC: attributes.isC)
      ]
    case .route:
      // As a record in C says; a route that Swift's macros write is exact.
      let shapes = pattern?.shapes(isPrefix: attributes.extent == .prefix)
      return (shapes ?? []).map { .route($0, priority: attributes.priority) }
    default: return []
    }
  }

  /// Returns the identities of a record.
  package static func all(of record: Record) -> [Self] {
    let pattern = record.kind == .route ? try? PatternParts(record.name) : nil
    return all(of: record.kind, record.name, record.attributes, pattern: pattern)
  }
}

extension Record {
  /// The instance that it shares with others of its image; nil if it has its own.
  package var sharedInstance: String? {
    kind == .service ? attributes.shared.map { "\(implementation ?? "") \($0)" } : nil
  }

  /// Checks that the first record that it shares an instance with makes that in the same way.
  ///
  /// - Parameters:
  ///   - first: The record that was declared first.
  ///   - memory: The memory of their image; nil if it cannot be read.
  /// - Throws: ``Refusal`` of the later record.
  func checkSharing(with first: Record, in memory: (any AddressedMemory)?) throws(Refusal) {
    let subject = "shares an instance with \(first.name) (\(first.origin)), which"
    try Refusal.check(
      attributes.scope == first.attributes.scope, .badAttribute,
      "\(subject) has scope=\(first.attributes.serviceScope); give both one scope")
    try Refusal.check(
      attributes.abi == first.attributes.abi
        && functions(in: memory) == first.functions(in: memory),
      .badContext, "\(subject) has another factory; give both one factory")
  }

  /// The functions of its factory in C.
  private func functions(in memory: (any AddressedMemory)?) -> [KnownAddress?] {
    guard attributes.abi == CStructure.factory.rawValue, let context, let memory,
      case .address(let address) = memory.address(of: context)
    else { return [] }
    return [8, 8 + UInt64(memory.pointerSize)].map { memory.pointer(at: address &+ $0) }
  }
}

/// The reason why entries that are good by themselves do not go together.
///
/// A Hive, `verify` and `doctor` judge by these rules and print these sentences. Each adds where the other entries are.
package struct Conflict: Hashable, Sendable {
  /// The sentence, from a small letter on and without a full stop.
  package let message: String
  package let remedy: Remedy

  /// Describes a required module that is missing.
  ///
  /// - Parameters:
  ///   - required: The module that is required.
  ///   - module: The module that requires it; nil if the reader knows it.
  ///   - nobody: The one that does not declare it: "no file".
  ///   - names: Names that are nearly its own.
  ///   - addition: The first words of the remedy: "add the file that".
  /// - Returns: The message and the remedy.
  package static func missing(
    _ required: ModuleRequirement, by module: String?, nobody: String, near names: [String] = [],
    addition: String
  ) -> Self {
    Self(
      message: required.sentence(of: module) + "\(nobody) declares" + question(about: names),
      remedy: .meet(required, by: addition))
  }

  /// Describes a required module that is present, but will not do.
  ///
  /// - Parameters:
  ///   - required: The module that is required.
  ///   - module: The module that requires it; nil if the reader knows it.
  ///   - fault: The reason why it will not do: "is switched off".
  ///   - provider: The place that declares it; empty if nobody knows.
  /// - Returns: The message and the remedy.
  package static func unfit(
    _ required: ModuleRequirement, by module: String?, _ fault: String, of provider: String = ""
  ) -> Self {
    Self(
      message: required.sentence(of: module) + fault + provider.inBrackets,
      remedy: .meetVersion)
  }

  /// Describes modules that wait for each other, or services that need each other.
  ///
  /// - Parameters:
  ///   - names: The modules or services, each waiting for the next and the last for the first.
  ///   - kind: The kind of all of them.
  ///   - places: The places that declare them. Of many names or places, the message has those at both ends.
  /// - Returns: The message and the remedy.
  package static func cycle(
    of names: [String], _ kind: RecordKind = .module, at places: [String]
  ) -> Self {
    let ring = "\(names.ends.joined(separator: " → ")) → \(names[0])"
    let number = names.ends.count < names.count ? "\(names.count) " : ""
    let (one, many, end) =
      kind == .service ? ("needs", "need", "be made") : ("waits for", "wait for", "start")
    let message =
      names.count == 1
      ? "\(kind) \(names[0]) \(one) itself, so it cannot \(end)"
      : "\(number)\(kind)s \(ring) \(many) each other, so none of them can \(end)"
    return Self(
      message: message + places.ends.joined(separator: ", ").inBrackets,
      remedy: .breakCycle(of: kind))
  }

  /// Describes a service or module that needs a scoped service and outlives it.
  ///
  /// - Parameters:
  ///   - service: The scoped service, with the place that declares it.
  ///   - holder: The service or module that would keep it.
  ///   - other: The service that it needs directly instead, with its place; nil if it needs `service` directly.
  /// - Returns: The message and the remedy.
  static func outlived(
    _ service: String, by holder: ServiceNeeds.Member, through other: String?
  ) -> Self {
    let isModule = holder.kind == .module
    let word = isModule ? "" : "\(holder.attributes.serviceScope.rawValue) "
    let way = other.map { "\($0), and through it " } ?? ""
    return Self(
      message: "\(word)\(holder.kind) \(holder.name) needs \(way)the scoped service \(service), "
        + "which \(holder.name) would outlive",
      remedy: .openScope(in: holder.kind))
  }

  /// Describes a needed service that is missing.
  ///
  /// - Parameters:
  ///   - service: The service that it needs.
  ///   - kind: The kind that needs it: a service or a module.
  ///   - name: The name of the service or module that needs it.
  ///   - nobody: The one that does not declare it: "no file".
  ///   - names: Names that are nearly that of the service.
  /// - Returns: The message and the remedy.
  package static func missing(
    service: String, by kind: RecordKind, _ name: String, nobody: String, near names: [String]
  ) -> Self {
    Self(
      message: "\(kind) \(name) needs the service \(service), which \(nobody) declares"
        + question(about: names),
      remedy: .addProvider)
  }

  /// Describes an entry that nothing tells from an earlier one.
  ///
  /// - Parameters:
  ///   - record: The later entry, which a Hive rejects.
  ///   - first: The earlier entry.
  ///   - place: The place that declares the earlier entry.
  /// - Returns: The message and the remedy.
  package static func duplicate(_ record: Record, of first: Record, at place: String) -> Self {
    let subject = "\(record.kind) \(record.name)"
    return Self(
      message: record.name == first.name
        ? "\(subject) is declared by \(place) too"
        : "\(subject) has the shape and the priority of \(first.name), which \(place) declares",
      remedy: .distinguish(record.kind))
  }
}

extension ModuleRequirement {
  /// Returns the beginning of a sentence that ends with the fault.
  fileprivate func sentence(of module: String?) -> String {
    "\(module.map { "module \($0) " } ?? "")requires \(name), which "
  }

  /// Whether the name has signs that versions have, and names of modules rarely.
  var mayMeanVersions: Bool {
    name.contains { "=^~!".contains($0) } || (name.contains(" ") && name.last?.isNumber == true)
  }
}

extension [String] {
  /// As many as people read: the first five, the number of those left out, and the last three.
  fileprivate var ends: [String] {
    guard count > 10 else { return self }
    return prefix(5) + ["\(count - 8) more"] + suffix(3)
  }
}

extension String {
  fileprivate var inBrackets: String { isEmpty ? "" : " (\(self))" }
}
