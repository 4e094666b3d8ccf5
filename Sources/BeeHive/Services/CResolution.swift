internal import BinaryImage
internal import Registration
internal import Threads

/// One lookup of a C service by its name: which entry answers, and with what address.
struct CResolution {
  private let service: String
  private let name: String?
  /// The bytes of the table that the caller knows; 0 where only C knows its layout.
  private let size: Int
  /// See `Resolution.scope`.
  private let scope: ServiceScope?
  private let hive: Hive
  /// Where lookups find what is the same for all without a lock. The size belongs to the question: a
  /// table may be long enough for one caller alone.
  private let spelling: String
  private let key: UInt

  init<Pointer>(
    _ service: String, name: String?, as type: Pointer.Type, size: Int = 0,
    scope: ServiceScope? = nil, hive: Hive
  ) {
    (self.service, self.name, self.size) = (service, name, size)
    self.scope = scope ?? Creation.scope(of: hive)
    self.hive = hive
    spelling = "\(service)\0\(name.map { "=\($0)" } ?? "")\0\(size)"
    key = LookupCache.key(of: type, name: spelling)
  }

  init<Table>(
    _ service: String, name: String?, as type: UnsafePointer<Table>.Type,
    scope: ServiceScope? = nil, hive: Hive
  ) {
    unsafe self.init(
      service, name: name, as: type, size: MemoryLayout<Table>.size, scope: scope, hive: hive)
  }

  /// The address as the pointer that the caller wants.
  func pointer<Table>() throws(ServiceError) -> UnsafePointer<Table> {
    guard let pointer = unsafe UnsafePointer<Table>(bitPattern: try address().rawValue) else {
      throw isNull
    }
    return unsafe pointer
  }

  func pointer() throws(ServiceError) -> OpaquePointer {
    guard let pointer = unsafe OpaquePointer(bitPattern: try address().rawValue) else {
      throw isNull
    }
    return unsafe pointer
  }

  private var isNull: ServiceError {
    ServiceError(.unusable, service: service, message: "its provider answered null")
  }

  /// The address that the service is found at.
  func address() throws(ServiceError) -> RuntimeAddress {
    if let made: RuntimeAddress = hive.made(at: key, name: spelling) { return made }
    hive.catchUp(probing: false)
    if let found = try answer() { return found }
    if hive.catchUp(probing: true), let found = try answer() { return found }
    throw hive.cFailure(service, name: name)
  }

  /// What a candidate answers.
  private enum Answer {
    case found(RuntimeAddress)
    /// It was removed, or the Hive stopped, while it answered.
    case takenBack
  }

  private func answer() throws(ServiceError) -> RuntimeAddress? {
    search: for _ in 0..<Self.mostTurns {
      let candidates = hive.cCandidates(of: service, name: name)
      for candidate in candidates.entries {
        // An image that has just gone takes its entries along.
        let answer = try hive.holding(candidate.entry) { () throws(ServiceError) in
          try self.answer(of: candidate, among: candidates)
        }
        switch answer {
        case .found(let address): return address
        case .takenBack: continue search
        case nil: continue
        }
      }
      return nil
    }
    throw ServiceError(
      .unusable, service: service,
      message:
        "it was removed, or the Hive stopped, each time that it was made; stop the Hive from "
        + "elsewhere than its factory")
  }

  /// How often what was made may be taken back before it was handed out.
  private static let mostTurns = 100

  /// Hands out what a candidate makes. Its image stays mapped meanwhile.
  private func answer(
    of candidate: CCandidates.Candidate, among candidates: CCandidates
  ) throws(ServiceError) -> Answer {
    let entry = candidate.entry
    guard let made = try make(candidate) else { return .takenBack }
    if case .ofScope = made { return .found(made.address) }
    let isHandedOut = hive.handOut(entry, made.object(of: entry), made.kept, at: candidates.turn) {
      state in
      guard made.isTable || entry.scope == .singleton else { return }
      state.publish(
        CachedValue(made.address, name: spelling), for: key, of: entry,
        named: [entry.name], version: candidates.version, cache: hive.cache)
    }
    hive.cache.collect()
    if isHandedOut { return .found(made.address) }
    // Nothing may be left that no one is told of: its image may go.
    let left = made.own ?? hive.state.withLock { $0.takeUnlessHandedOut(entry) }
    left?.destroy()
    return .takenBack
  }

  /// Reads a candidate's structure; makes what a factory makes, and destroys it. Its image stays mapped
  /// meanwhile.
  func check(_ candidate: CCandidates.Candidate) throws(ServiceError) {
    try hive.holding(candidate.entry) { () throws(ServiceError) in
      guard candidate.structure == .factory else {
        _ = try table(of: candidate)
        return
      }
      let entry = candidate.entry
      let factory = try read(
        ForeignCall.factory(at: candidate.address, in: entry.memory), candidate)
      let step = Creation.Step(entry: entry, scope: scope)
      try Creation.make(step) { () throws(ServiceError) in try create(entry, factory) }.destroy()
    }
  }

  // MARK: Making

  /// What a candidate makes.
  private enum Made {
    case table(RuntimeAddress)
    /// For this request alone.
    case own(CInstance)
    /// For all requests.
    case kept(CachedValue<CInstance>)
    /// For those of a scope, which keeps the image too.
    case ofScope(CInstance)

    var address: RuntimeAddress {
      switch self {
      case .table(let address): address
      case .own(let instance), .ofScope(let instance): instance.address
      case .kept(let cached): cached.value.address
      }
    }

    /// What its asker gives back.
    func object(of entry: RegisteredEntry) -> RuntimeAddress? {
      switch self {
      case .own(let instance): instance.address
      case .kept(let cached): entry.scope == .weak ? cached.value.address : nil
      case .table, .ofScope: nil
      }
    }

    var isTable: Bool { if case .table = self { true } else { false } }
    var own: CInstance? { if case .own(let instance) = self { instance } else { nil } }
    var kept: CachedService? { if case .kept(let cached) = self { cached } else { nil } }
  }

  /// What a candidate makes, as its scope says; nil where its entry has left meanwhile.
  private func make(_ candidate: CCandidates.Candidate) throws(ServiceError) -> Made? {
    let entry = candidate.entry
    guard candidate.structure == .factory else {
      return .table(try table(of: candidate))
    }
    let factory = try read(ForeignCall.factory(at: candidate.address, in: entry.memory), candidate)
    switch entry.scope {
    case .transient:
      let step = Creation.Step(entry: entry, scope: scope)
      let made = try Creation.make(step) { () throws(ServiceError) in try create(entry, factory) }
      return .own(made)
    case .singleton, .weak:
      let made = try instance(in: entry.singleton, of: entry) { () throws(ServiceError) in
        try create(entry, factory)
      }
      return made.map { .kept($0) }
    case .scoped:
      guard let scope else { throw .unscoped(entry, neededBy: Creation.keeper) }
      guard let cell = scope.cell(of: entry) else { throw .ended(entry) }
      let made = try instance(in: cell, of: entry, scope) { () throws(ServiceError) in
        try create(entry, factory, in: scope)
      }
      return made.map { .ofScope($0.value) }
    }
  }

  private func table(of candidate: CCandidates.Candidate) throws(ServiceError) -> RuntimeAddress {
    let entry = candidate.entry
    let table = try read(
      ForeignCall.serviceTable(at: candidate.address, in: entry.memory), candidate)
    guard table.size >= size else {
      throw ServiceError(
        .tooSmall, service: entry.name,
        message: "\(entry.source) has a table of \(table.size) bytes where \(size) are "
          + "expected; rebuild it against the newer header",
        sources: [entry.source])
    }
    return table.address
  }

  /// The one instance of a cell; nil where `create` makes none.
  private func instance(
    in cell: Singleton, of entry: RegisteredEntry, _ scope: ServiceScope? = nil,
    _ create: () throws(ServiceError) -> CInstance?
  ) throws(ServiceError) -> CachedValue<CInstance>? {
    let made = try cell.get(for: entry, in: scope) { () throws(ServiceError) in
      try create().map { CachedValue($0, name: nil) }
    }
    return made as? CachedValue<CInstance>
  }

  /// Makes an instance that lives until `scope` ends, as its image does.
  private func create(
    _ entry: RegisteredEntry, _ factory: CFactory, in scope: ServiceScope
  ) throws(ServiceError) -> CInstance? {
    guard let use = hive.begin(entry) else { return nil }
    let instance: CInstance
    do throws(ServiceError) { instance = try create(entry, factory) } catch {
      hive.end(use)
      throw error
    }
    let isKept = scope.atEnd { [hive] in
      instance.destroy()
      hive.end(use)
    }
    // Its factory may have ended the scope, or another thread.
    guard isKept else { throw .ended(entry) }
    return instance
  }

  private func create(
    _ entry: RegisteredEntry, _ factory: CFactory
  ) throws(ServiceError) -> CInstance {
    let context = hive.state.withLock { $0.context } ?? Context(hive: hive)
    CError.forget()
    if let object = ForeignCall.create(factory, context) {
      return CInstance(address: object, factory: factory)
    }
    let reason = CError.text
    throw ServiceError(
      .creationFailed, service: entry.name,
      message: "the factory of \(entry.source) answered null"
        + (reason.isEmpty ? "" : ", having been told: \(reason)"),
      sources: [entry.source])
  }

  /// What a record's structure says; an unusable one turns its entry into a rejected one.
  private func read<Value>(
    _ result: Result<Value, Problem>, _ candidate: CCandidates.Candidate
  ) throws(ServiceError) -> Value {
    switch result {
    case .success(let value): return value
    case .failure(let problem):
      let entry = candidate.entry
      hive.state.withLock { _ in entry.progress = .rejected(problem) }
      throw ServiceError(
        .unusable, service: entry.name, message: "\(entry.source): \(problem)",
        sources: [entry.source])
    }
  }
}
