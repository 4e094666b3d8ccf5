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
  /// - Throws: ``Problem``: in a strict Hive the first refused entry of the file, after the others are
  ///   registered; in any Hive `unmounted`, if the module whose task calls has been unmounted.
  public func register(_ registrations: Registrations, file: String) throws(Problem) {
    let isNew = state.withLock { $0.files.insert(file).inserted }
    guard isNew else { return }
    var entries: [RegisteredEntry] = []
    for (index, module) in registrations.moduleClasses.enumerated() {
      entries.append(RegisteredEntry(module, at: "moduleClasses[\(index)]", of: file))
    }
    for (index, service) in registrations.services.enumerated() {
      entries.append(RegisteredEntry(service, at: "services[\(index)]", of: file))
    }
    add(entries)
    own { [self] in _ = state.withLock { $0.files.remove(file) } }
    try own(entries)
    guard isStrict else { return }
    for entry in entries {
      if case .rejected(let problem) = boundProgress(of: entry) { throw problem }
    }
  }
}

extension RegisteredEntry {
  fileprivate convenience init(_ module: Registrations.Module, at path: String, of file: String) {
    var attributes = Attributes()
    attributes.level = module.moduleLevel == .basic ? module.moduleLevel.rawValue : nil
    attributes.priority = module.modulePriority
    attributes.requires = module.requires
    attributes.after = module.after
    self.init(
      order: Hive.nextOrder(), kind: .module, name: module.moduleClass, implementation: nil,
      attributes: attributes, source: .file(file, keyPath: path), image: nil, scope: .singleton,
      isC: false, progress: .accepted(.notYetLooked))
  }

  fileprivate convenience init(_ service: Registrations.Service, at path: String, of file: String) {
    var attributes = Attributes()
    attributes.name = service.name
    attributes.priority = service.priority
    attributes.scope = service.scope.rawValue
    self.init(
      order: Hive.nextOrder(), kind: .service, name: service.service,
      implementation: service.impl, attributes: attributes,
      source: .file(file, keyPath: path), image: nil, scope: service.scope, isC: false,
      progress: .accepted(.notYetLooked))
  }
}
