internal import Registration

/// What nothing could tell apart, as a digest: what it stands for may be large, and many are kept.
///
/// Two that differ have one digest as good as never, and no file can bring it about: hashes are seeded
/// anew for each run.
struct Identity: Hashable {
  private var halves: SIMD2<Int>

  private init(_ content: some Hashable) {
    halves = SIMD2(0, 0)
    for half in 0..<2 {
      var hasher = Hasher()
      hasher.combine(half)
      hasher.combine(content)
      halves[half] = hasher.finalize()
    }
  }

  private enum Content: Hashable {
    case named(RecordKind, String)
    case service(String, given: String?, priority: Int, isC: Bool)
    case route(RouteForm, priority: Int)
  }

  /// A route has as many as its pattern has forms.
  static func all(of record: Record) -> [Self] {
    let attributes = record.attributes
    switch record.kind {
    case .service:
      return [
        Self(
          Content.service(
            record.name, given: attributes.name, priority: attributes.priority,
            isC: attributes.abi != nil))
      ]
    case .route:
      // As C says it; for a route in Swift no record does.
      let isPrefix = attributes.others.contains { $0.key == "match" && $0.value == "prefix" }
      return RouteForm.forms(of: record.name, isPrefix: isPrefix)
        .map { Self(Content.route($0, priority: attributes.priority)) }
    default: return record.kind.isKnown ? [Self(Content.named(record.kind, record.name))] : []
    }
  }
}
