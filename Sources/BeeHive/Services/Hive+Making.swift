internal import Registration
internal import Threads

// Making each service once, to see whether that works.
extension Hive {
  /// Makes each bound service, and lets go of it; why one could not be made, by the order of its entry.
  func failuresOfMakingEach() async -> [UInt64: ServiceError] {
    bindUnbound()
    let services = state.withLock { state in
      state.table.entries { $0.kind == .service && $0.provider != nil }
    }
    return await withTaskOverride {
      let scope = makeScope()
      defer { scope.end() }
      var failures: [UInt64: ServiceError] = [:]
      // What is made asynchronously first: others can only find it then.
      for entry in services.filter(\.isAsynchronous) + services.filter({ !$0.isAsynchronous }) {
        do throws(ServiceError) { try await make(entry, in: scope) } catch {
          failures[entry.order] = error
        }
      }
      return failures
    }
  }

  private func make(_ entry: RegisteredEntry, in scope: ServiceScope) async throws(ServiceError) {
    switch entry.provider {
    case .structure(let structure, let address):
      let candidate = CCandidate(entry: entry, structure: structure, address: address)
      let lookup = unsafe CServiceLookup(
        entry.name, name: entry.givenName, as: OpaquePointer.self, scope: scope, hive: self)
      try lookup.check(candidate)
    case .accessor(let accessor): try await make(entry, as: accessor.service, in: scope)
    case .injectable(_, let service?): try await make(entry, as: service, in: scope)
    case .injectable(let type, nil):
      // The caller of a lookup says as which type it is kept; here there is none.
      _ = try Creation.make(Creation.Step(entry: entry, scope: scope)) { () throws(ServiceError) in
        do { return try type.init(hive: self) } catch {
          throw ServiceError.thrown(error, by: entry)
        }
      }
    case .closure(let factory) where factory.parameter == nil:
      try await make(entry, as: factory.service, in: scope)
    case .closure, .module, nil: break
    }
  }

  /// Makes a service as a type, which is nil where only its accessor knows it: then no lookup can name it.
  private func make(
    _ entry: RegisteredEntry, as type: ObjectIdentifier?, in scope: ServiceScope
  ) async throws(ServiceError) {
    guard let type else { return }
    // Sound: the identifier of a type is the address of its metadata, which is all that a metatype holds;
    // every registration requires that the type is `Sendable`.
    try await make(entry, as: unsafe unsafeBitCast(type, to: (any Sendable.Type).self), in: scope)
  }

  private func make<Service: Sendable>(
    _ entry: RegisteredEntry, as type: Service.Type, in scope: ServiceScope
  ) async throws(ServiceError) {
    let lookup = ServiceLookup(type: type, name: entry.givenName, scope: scope, hive: self)
    guard let provider = entry.provider else { return }
    if case .closure(let factory) = provider, let load = factory.load {
      _ = try await self.load(entry, load, lookup)
    } else if try lookup.instance(of: entry, lookup.recipe(provider)) == nil {
      throw ServiceError(.unusable, entry, "\(entry.source) makes another type")
    }
  }
}

extension RegisteredEntry {
  /// Whether its factory is asynchronous.
  fileprivate var isAsynchronous: Bool {
    if case .closure(let factory) = provider { factory.load != nil } else { false }
  }
}
