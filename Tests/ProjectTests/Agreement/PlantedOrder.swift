/// The order of planted modules, found by looking at every pair.
struct PlantedOrder {
  private var requires: [String: Set<String>] = [:]
  private var after: [String: Set<String>] = [:]

  /// Adds a module, the first planted one of its name.
  mutating func add(_ module: String, requires: [String], after: [String]) {
    self.requires[module] = Set(requires)
    self.after[module] = Set(after)
  }

  /// The requirements without a module, each as `W nowhere`.
  var missing: Set<String> {
    Set(requires.flatMap { module, names in missing(of: names).map { "\(module) \($0)" } })
  }

  private func missing(of names: Set<String>) -> Set<String> { names.subtracting(requires.keys) }

  /// The modules that cannot start because they or their requirements lack something.
  var lacking: Set<String> {
    var lacking = Set(requires.filter { !missing(of: $0.value).isEmpty }.keys)
    for _ in requires {
      lacking.formUnion(requires.filter { !$0.value.isDisjoint(with: lacking) }.keys)
    }
    return lacking
  }

  /// The modules that wait for themselves, directly or through others. A module does not wait for one that it only
  /// follows if that one cannot start.
  var cyclic: Set<String> {
    let lacking = lacking
    var reached = requires.merging(after) { $0.union($1.subtracting(lacking)) }
    for _ in requires {
      reached = reached.mapValues { names in
        names.reduce(into: names) { $0.formUnion(reached[$1] ?? []) }
      }
    }
    return Set(requires.keys.filter { reached[$0]?.contains($0) == true })
  }

  /// Returns the modules that start if some are switched off and others fail, with all their requirements.
  func starting(without off: Set<String>, failing: Set<String>) -> Set<String> {
    var present = self
    for name in off { (present.requires[name], present.after[name]) = (nil, nil) }
    var failed = present.lacking.union(present.cyclic).union(failing)
    for _ in requires {
      failed.formUnion(present.requires.filter { !$0.value.isDisjoint(with: failed) }.keys)
    }
    return Set(present.requires.keys).subtracting(failed)
  }

  /// Returns whether each module starts after those that it requires or follows.
  func isKept(by started: [String]) -> Bool {
    started.enumerated().allSatisfy { place, name in
      let earlier = requires[name, default: []].union(after[name, default: []])
      return earlier.isDisjoint(with: started[place...])
    }
  }
}
