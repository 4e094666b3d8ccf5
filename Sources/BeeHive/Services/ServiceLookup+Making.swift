// How the entry that answers a lookup makes its service, and where that is kept.
extension ServiceLookup {
  /// The instance that an entry makes, as its scope says; nil where it refuses the type.
  func instance(of entry: RegisteredEntry, _ recipe: Recipe) throws(ServiceError) -> Service? {
    let scope = entry.scope == .singleton || entry.scope == .weak ? nil : scope
    let cell: Singleton
    switch entry.scope {
    case .transient:
      return try Creation.make(Creation.Step(entry: entry, scope: scope)) {
        () throws(ServiceError) in try make(entry, recipe)
      }
    case .singleton, .weak: cell = keeper(of: entry)
    case .scoped:
      guard let scope else { throw .unscoped(entry, neededBy: Creation.keeper) }
      cell = try scope.cell(of: entry)
    }
    let made = try cell.get(for: entry, in: scope) { () throws(ServiceError) -> CachedService? in
      guard let value = try make(entry, recipe) else { return nil }
      // Its factory may have ended the scope, or another thread.
      if let scope, let value = value as? any Disposable, !scope.atEnd({ value.dispose() }) {
        throw ServiceError.ended(entry)
      }
      return CachedValue<Service>(value, name: name)
    }
    guard let typed = made as? CachedValue<Service> else { return nil }
    // What a parameter made is the instance too, but a lookup without one has no right to it.
    guard entry.scope == .singleton, parameter == nil, isAnswer else { return typed.value }
    hive.publish(
      CachedValue(typed.value, name: name), for: key, of: entry, named: names, version: version)
    return typed.value
  }

  /// What a record may call the type.
  var names: [String] { TypeSpelling.of(type).all }

  /// Runs a factory; what it throws names its entry.
  private func make(_ entry: RegisteredEntry, _ recipe: Recipe) throws(ServiceError) -> Service? {
    do { return try recipe(hive) } catch { throw .thrown(error, by: entry) }
  }

  /// How a provider makes the service; the recipe answers nil where it makes something else.
  func recipe(_ provider: Provider) -> Recipe {
    switch provider {
    case .accessor(let accessor):
      return { [type] _ in ForeignCall.make(accessor, as: type) }
    case .injectable(let implementation, _):
      return { hive in try implementation.init(hive: hive) as? Service }
    case .closure(let factory):
      if let typed = factory.typed(as: type) { return typed }
      return { [parameter] hive in try factory.make(hive, parameter) as? Service }
    case .structure, .module: return { _ in nil }
    }
  }

  var key: UInt { name.map { LookupCache.key(of: type, name: $0) } ?? LookupCache.key(of: type) }

  /// Keeps who makes a service that each lookup makes anew; not where an entry that nothing makes
  /// today may come before it tomorrow.
  func remember(_ found: Candidate, _ recipe: @escaping Recipe) {
    guard found.isCertain, found.entry.scope != .singleton, parameter == nil, !mayChange else {
      return
    }
    hive.publish(
      CachedRecipe(found.entry, name: name, recipe), for: LookupCache.recipeKey(key),
      of: found.entry, named: names, version: version)
  }

  /// Where the instance of a singleton is kept: for the current task where that has an override.
  func keeper(of entry: RegisteredEntry) -> Singleton {
    TaskOverride.of(hive)?.cell(of: entry) ?? entry.singleton
  }
}
