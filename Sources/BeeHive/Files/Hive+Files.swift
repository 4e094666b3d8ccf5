internal import Registration
internal import Threads

extension Hive {
  /// Registers what a file declares, by the same rules and in the same order as everything else.
  ///
  /// A refused entry, such as a duplicate, is listed in `entries` with its reason; the others are
  /// registered.
  ///
  /// - Parameters:
  ///   - registrations: The decoded contents. The Hive does not use its URL scheme.
  ///   - file: The name that reports print. A name that was given before is not registered again.
  /// - Throws: ``Problem`` with `unmounted`, if the module whose task calls has been unmounted.
  public func register(_ registrations: Registrations, file: String) throws(Problem) {
    let isNew = state.withLock { $0.files.insert(file).inserted }
    guard isNew else { return }
    let modules = registrations.moduleClasses.enumerated().map { index, module in
      RegisteredEntry(
        module: module.moduleClass, version: module.version, level: module.moduleLevel,
        priority: module.modulePriority, requires: module.requires, after: module.after,
        source: .file(file, keyPath: "moduleClasses[\(index)]"), progress: .accepted(.notYetLooked))
    }
    let services = registrations.services.enumerated().map { index, service in
      RegisteredEntry(
        service: service.service, implementation: service.impl, given: service.name,
        scope: service.scope, priority: service.priority,
        source: .file(file, keyPath: "services[\(index)]"), progress: .accepted(.notYetLooked))
    }
    let entries = modules + services
    add(entries)
    own { [self] in _ = state.withLock { $0.files.remove(file) } }
    try own(entries)
  }
}
