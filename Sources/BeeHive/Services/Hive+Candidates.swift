internal import Threads

extension Hive {
  /// Finds the services that a lookup may mean: those of any of these names, which are the spellings of the
  /// type (`TypeSpelling`), and those whose code says that they serve as `type`, whatever their name.
  ///
  /// - Parameters:
  ///   - names: Every way to spell the type.
  ///   - type: The type; nil where it is asked for by name alone.
  ///   - given: The given name that they must have; nil for any.
  /// - Returns: The services, in order of registration, and the table's version at that time.
  func services(
    named names: [String], of type: Any.Type? = nil, given: String? = nil
  ) -> (entries: [RegisteredEntry], version: Int) {
    state.withLock { state in
      var entries = names.flatMap { name in
        given.map { state.table.services(named: name, given: $0) }
          ?? state.table.services(named: name)
      }
      if let type {
        entries += state.table.services(serving: ObjectIdentifier(type), given: given)
          .filter { !names.contains($0.name) }
      }
      return (entries, state.table.version)
    }
  }
}
