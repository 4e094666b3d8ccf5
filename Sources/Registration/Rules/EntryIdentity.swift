/// What makes two entries the same: of those that have an identity in common, the later is a duplicate.
///
/// A process compares services by their types instead, where it knows them.
package enum EntryIdentity: Hashable, Sendable {
  /// A module, a target.
  case named(RecordKind, String)
  /// A service: also its given name, its priority and its language tell it from others of its name.
  case service(String, given: String?, priority: Int, isC: Bool)
  /// One form of a route's pattern.
  case route(RouteShape, priority: Int)

  /// The identities of a well-formed entry: a route has as many as its pattern has forms, what belongs to third
  /// parties none. `pattern` is what a route's name says.
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
      // As C says it; a route that Swift's macros write is exact.
      let shapes = pattern?.shapes(isPrefix: attributes.extent == .prefix)
      return (shapes ?? []).map { .route($0, priority: attributes.priority) }
    default: return []
    }
  }

  /// Those of a record.
  package static func all(of record: Record) -> [Self] {
    let pattern = record.kind == .route ? try? PatternParts(record.name) : nil
    return all(of: record.kind, record.name, record.attributes, pattern: pattern)
  }
}

extension RecordKind {
  /// What the authors of two duplicates of this kind can do.
  package var remedyOfDuplicates: String {
    switch self {
    case .service: "give one of them a name or a priority"
    case .route: "give one of them a priority, or another pattern"
    default: "rename or remove one of them"
    }
  }
}
