internal import Registration

// Why a lookup finds nothing, or too much, in words.
extension ServiceLookup {
  /// That several serve equally well.
  func ambiguity(_ candidates: [Candidate]) -> ServiceError {
    let places = candidates.map(\.entry.source)
    return ServiceError(
      .ambiguous, service: spelling,
      message: "\(Source.told(apart: places).joined(separator: " and ")) both provide it; "
        + "give one of them a name or a priority",
      sources: places)
  }

  private var spelling: String {
    TypeSpelling.of(type).unqualified + (name.map { " named \($0)" } ?? "")
  }

  /// Adds those that would serve but for their names.
  private mutating func addOtherNames() {
    guard let name else { return }
    let known = refusals
    let others = fitting().filter { $0.entry.attributes.name != name }
    refusals = known + others.map { ($0.entry.source, $0.entry.nameRemark) }
  }

  /// Why `run` found nothing.
  mutating func failure() -> ServiceError {
    let (isKnown, version) = (refusals.isEmpty, version)
    addOtherNames()
    var error =
      refusals.isEmpty
      ? ServiceError(
        .notFound, service: spelling,
        message: "nothing that is loaded provides it; link or dlopen the library that does, or "
          + "register it") : unusable
    // What was looked at may serve another time, though nothing comes or goes.
    if isKnown, !mayChange { remember(error, version) }
    error.hint = hint(for: error)
    return error
  }

  private var unusable: ServiceError {
    let told = refusals.prefix(16)
    var reasons = zip(Source.told(apart: told.map(\.source)), told).map { "\($0): \($1.reason)" }
    if refusals.count > told.count { reasons.append("and \(refusals.count - told.count) more") }
    let remark = TypeCopies.remark(on: type as Any.Type)
    // Long, and the same in each reason that has it: said once, at the end.
    reasons = reasons.map { $0.hasSuffix(remark) ? String($0.dropLast(remark.count)) : $0 }
    return ServiceError(
      .unusable, service: spelling,
      message: "none of what names it can serve: \(reasons.joined(separator: "; "))\(remark)",
      sources: refusals.map(\.source))
  }

  /// What may have been meant.
  func hint(for miss: ServiceError) -> @Sendable () -> String {
    let (hive, type, name) = (hive, type as Any.Type, name)
    guard miss.code == .unusable else {
      return { hive.servicesLike(TypeSpelling.of(type).qualified) }
    }
    return { name.map { hive.givenNamesLike($0, of: TypeSpelling.of(type)) } ?? "" }
  }

  /// Keeps that nothing has the name, until something comes or goes.
  private func remember(_ miss: ServiceError, _ version: Int) {
    hive.publish(
      CachedMiss(miss, name: name), for: LookupCache.recipeKey(key), of: nil, named: names,
      version: version)
  }
}
