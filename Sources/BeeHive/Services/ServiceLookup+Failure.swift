internal import Threads

// The errors of lookups that find nothing.
extension ServiceLookup {
  /// Returns the error that several entries serve equally well.
  func ambiguity(_ candidates: [Candidate]) -> ServiceError {
    let places = candidates.map(\.entry.source)
    return ServiceError(
      .ambiguous, service: spelling,
      message: "\(Source.told(apart: places).joined(separator: " and ")) both provide it; "
        + "give one of them a name or a priority",
      sources: places)
  }

  private var spelling: String {
    (type.map { TypeSpelling.of($0).unqualified } ?? names[0])
      + (name.map { " named \($0)" } ?? "")
  }

  /// Adds the entries that only their names keep from serving.
  private mutating func addOtherNames() {
    guard let name else { return }
    var lookup = self
    for other in lookup.fitting() where other.entry.attributes.name != name {
      let reason = other.entry.attributes.name.map { "is named \($0)" } ?? "has no name"
      refusals.append((other.entry.source, reason))
    }
  }

  /// Returns the error of a lookup that found nothing.
  mutating func failure() -> ServiceError {
    let isKnown = refusals.isEmpty
    addOtherNames()
    let remedy =
      type == nil
      ? "no C library that is loaded provides it; link or dlopen the one that does"
      : "nothing that is loaded provides it; load the library that does (hive.plugins.load, dlopen), link or register it"
    var error =
      refusals.isEmpty
      ? ServiceError(.notFound, service: spelling, message: remedy) : unusable
    // Keep plain misses only: an entry that was refused may serve another time, though nothing comes or goes.
    if isKnown, !mayChange, type != nil, overrides.isEmpty, hive.supplier.withLock({ $0 == nil }) {
      publish(CachedValue(error, name: name), for: LookupCache.recipeKey(key), of: nil)
    }
    error.hint = hint(for: error)
    return error
  }

  private var unusable: ServiceError {
    let told = refusals.prefix(16)
    var reasons = zip(Source.told(apart: told.map(\.source)), told).map { "\($0): \($1.reason)" }
    if refusals.count > told.count { reasons.append("and \(refusals.count - told.count) more") }
    let remark = type.map { TypeLookup.remark(onCopiesOf: $0) } ?? ""
    // The remark is long and the same in each reason: print it once, at the end.
    reasons = reasons.map { $0.hasSuffix(remark) ? String($0.dropLast(remark.count)) : $0 }
    let head = type == nil ? "" : "no entry that names it can serve it: "
    return ServiceError(
      .unusable, service: spelling, message: head + reasons.joined(separator: "; ") + remark,
      sources: refusals.map(\.source))
  }

  /// Returns a function that names a removed service, or suggests names: services, or given names of this one.
  func hint(for miss: ServiceError) -> @Sendable () -> String {
    // Capture no scope: it may keep the error.
    let (hive, type, service, name) = (hive, type, service, name)
    return {
      let names = type.map { TypeSpelling.of($0).all } ?? [service]
      guard miss.code == .unusable else {
        let (known, removed) = hive.state.withLock { state in
          (
            state.table.names(of: .service),
            names.flatMap(state.table.removed).max { $0.order < $1.order }
          )
        }
        return removed.map { "; \($0.source) was removed: \(EntryTable.adviceOnRemoved)" }
          ?? near(names[0], in: known)
      }
      let others = hive.state.withLock { $0.table.services(named: names) }.entries.compactMap(
        \.attributes.name)
      return name.map { near($0, in: others) } ?? ""
    }
  }
}
