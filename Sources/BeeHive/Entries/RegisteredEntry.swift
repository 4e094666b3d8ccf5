internal import BinaryImage
package import Registration
internal import Synchronization

/// An entry as the Hive keeps it: its declaration and its progress.
package final class RegisteredEntry: @unchecked Sendable {
  // Sound: the variables are read and written under the lock of the Hive that owns the entry;
  // everything else is immutable.

  /// The progress of an entry.
  enum Progress {
    /// Something makes it.
    case bound(Provider)
    /// Nothing makes it yet; tried again when images change.
    case accepted(Problem)
    /// It never will be made.
    case rejected(Problem)

    var provider: Provider? { if case .bound(let provider) = self { provider } else { nil } }
  }

  private static let orders = Atomic<UInt64>(1)

  /// Grows with each registration in the process.
  package let order: UInt64
  package let kind: RecordKind
  package let name: String
  let implementation: String?
  package let attributes: Attributes
  /// The parts of a route's name; nil for all other kinds.
  package let pattern: PatternParts?
  package let source: Source
  /// Whether a C record declared it: lookups find it by name, never by Swift type.
  package let isC: Bool
  /// The image that holds it; nil for an entry made by code.
  let image: MappedImage.ID?
  /// The load bias of that image.
  let bias: LoadBias?
  let scope: Scope
  /// Whether the host gave the instance, which does not end with the Hive.
  let isGiven: Bool
  /// The objects of its C factory, each with the number of times it was handed out and not given back.
  var objects: [RuntimeAddress: Int] = [:]
  /// The number of cells that keep its instance, or will.
  let cells = Atomic(0)
  var progress: Progress { didSet { publishProgress() } }
  /// The `progress` before the entry turned out to be a duplicate, or a layer above could not use it.
  var setAside: (progress: Progress, isDuplicate: Bool)?
  /// Whether the entry has left the Hive: its image is gone, or it was removed.
  var isWithdrawn = false { didSet { publishProgress() } }
  /// The `Belongings` of the module whose code registered it. Set before the Hive has it.
  var owner: ObjectIdentifier?
  /// The first entry of its image that shares an instance with this one; nil for that first entry itself, and if none
  /// does. Set before the Hive has it.
  var firstSharer: RegisteredEntry?
  /// The type that `EntryTable` has filed it under.
  var filedType: ObjectIdentifier?
  /// The cell of the state record that others read its progress from; negative if there is no state record.
  var stateCell: Int32 = -1

  init(
    kind: RecordKind, name: String, implementation: String? = nil,
    attributes: Attributes = Attributes(), source: Source, image: MappedImage.ID? = nil,
    bias: LoadBias? = nil, progress: Progress
  ) {
    order = Self.orders.wrappingAdd(1, ordering: .relaxed).oldValue
    self.kind = kind
    self.name = name
    self.implementation = implementation
    self.attributes = attributes
    pattern = kind == .route ? try? PatternParts(name) : nil
    self.source = source
    self.image = image
    self.bias = bias
    self.progress = progress
    isC = attributes.isC
    scope = attributes.serviceScope
    isGiven = if case .bound(.closure(let factory)) = progress { factory.isGiven } else { false }
  }

  /// Its provider, if it is bound. Under the Hive's lock.
  var provider: Provider? { progress.provider }

  /// The entry that has its instance, and the objects of its C factory.
  var keeper: RegisteredEntry { firstSharer ?? self }

  /// The reason that it is rejected, if it is. Under the Hive's lock.
  var refusal: Problem? { if case .rejected(let problem) = progress { problem } else { nil } }

  /// Whether nothing can make it yet. Under the Hive's lock.
  var isUnbound: Bool { if case .accepted = progress { true } else { false } }

  /// Whether only its own record can say what makes it: no type of the name can.
  var isForeign: Bool { attributes.abi != nil || (kind != .module && kind != .service) }

  /// The provider, also while something keeps the entry from being used. Under the Hive's lock.
  var maker: Provider? { setAside?.progress.provider ?? provider }

  /// The memory of the structure that it leads to.
  var memory: ForeignMemory { image == nil ? .host : .image }

  /// The name that tells a service from others of its type; a module has only its name.
  var givenName: String? { kind == .service ? attributes.name : nil }

  /// The Swift type that a service serves as, if that is known. Under the Hive's lock.
  var servedType: ObjectIdentifier? {
    switch provider {
    case .accessor(let accessor): accessor.service
    // The type that an implementation's name leads to may only conform.
    case .closure(let factory): factory.serving
    case .structure, nil: nil
    }
  }

  /// Returns whether lookups prefer it to another: larger priority first, then in order.
  func answersBefore(_ other: RegisteredEntry) -> Bool {
    let (mine, others) = (attributes.priority, other.attributes.priority)
    return mine != others ? mine > others : order < other.order
  }

  /// The identities that duplicates share; services of a known type are compared by type.
  var identities: [EntryIdentity] {
    EntryIdentity.all(of: kind, name, attributes, pattern: pattern)
  }

  /// A copy of the entry for clients. Under the Hive's lock.
  var snapshot: Entry {
    let state: Entry.State =
      switch progress {
      case .bound: .bound
      case .accepted(let problem): .accepted(problem)
      case .rejected(let problem): .rejected(problem)
      }
    return Entry(
      kind: kind, name: name, implementation: implementation, attributes: attributes,
      source: source, state: state, number: order)
  }
}

extension RegisteredEntry {
  /// Makes the entry of a rejected record.
  convenience init(_ rejection: Rejection, in image: LoadedImage) {
    self.init(
      kind: rejection.kind, name: rejection.name ?? "",
      source: .image(rejection.origin), image: image.mapped.id,
      progress: .rejected(Problem(rejection)))
  }

  /// Makes an entry of a service that code or a file registers.
  convenience init(
    service name: String, implementation: String? = nil, given: String?, scope: Scope? = nil,
    priority: Int = 0, source: Source, progress: Progress
  ) {
    var attributes = Attributes()
    attributes.name = given
    attributes.priority = priority
    attributes.scope = scope?.rawValue
    self.init(
      kind: .service, name: name, implementation: implementation, attributes: attributes,
      source: source, progress: attributes.rejection(of: .service) ?? progress)
  }

  /// Makes an entry of a module that code or a file registers.
  convenience init(
    module name: String, version: String?, level: ModuleLevel, priority: Int, requires: [String],
    after: [String], source: Source, progress: Progress
  ) {
    var attributes = Attributes()
    attributes.version = version
    attributes.level = level == .basic ? level.rawValue : nil
    attributes.priority = priority
    attributes.requires = requires
    attributes.after = after
    self.init(
      kind: .module, name: name, attributes: attributes, source: source,
      progress: attributes.rejection(of: .module) ?? progress)
  }
}

extension Attributes {
  /// The rejection of an entry from code or a file by the rules for records; nil if its values are sound.
  fileprivate func rejection(of kind: RecordKind) -> RegisteredEntry.Progress? {
    do throws(Refusal) {
      try check(for: kind)
      return nil
    } catch {
      return .rejected(Problem(error))
    }
  }
}

extension RegisteredEntry {
  /// Its remaining users: one sentence each. Under the Hive's lock.
  var holders: [String] {
    let keepers = scope == .scoped ? "scopes that have made it" : "makers and overrides of it"
    return [
      (objects.values.reduce(0, +), "objects of its factory that were not given back"),
      (cells.load(ordering: .relaxed), keepers),
    ].filter { $0.0 > 0 }.map { "service \(name) (\(source)), \($1): \($0)" }
  }
}

extension [RegisteredEntry] {
  var modules: [RegisteredEntry] { filter { $0.kind == .module } }
}

extension RegisteredEntry {
  /// Rejects this entry as a duplicate if one of `others` already provides the same. It is reconsidered when the other
  /// entry leaves. Returns whether it was rejected.
  @discardableResult
  func reject(ifDuplicateAmong others: [RegisteredEntry]) -> Bool {
    guard !others.isEmpty else { return false }
    if case .rejected = progress { return false }
    let duplicates = others.lazy.filter { $0 !== self && $0.isDuplicated(by: self) }
    guard let first = duplicates.min(by: { $0.order < $1.order }) else { return false }
    setAside = (progress, isDuplicate: true)
    progress = .rejected(.duplicate(of: first, by: self))
    return true
  }

  /// Returns whether `later` provides what this entry already does, so that nothing could tell them apart.
  private func isDuplicated(by later: RegisteredEntry) -> Bool {
    if case .rejected = progress { return false }
    let mine = identities
    guard kind == .service else { return later.identities.contains(where: mine.contains) }
    // Services are compared by type, whatever their names; if a type is not known, by name.
    guard let type = filedType, let other = later.filedType else {
      return filedType == later.filedType && mine == later.identities
    }
    return type == other && givenName == later.givenName && isC == later.isC
      && attributes.priority == later.attributes.priority
  }
}

extension Problem {
  /// Creates the problem of an entry that a rule refuses.
  package init(_ refusal: Refusal) {
    self.init(Code(rawValue: refusal.reason.rawValue), refusal.message)
  }

  /// Creates the problem of an entry that the rulebook rejects.
  init(_ rejection: Rejection) {
    self.init(Code(rawValue: rejection.reason.rawValue), rejection.message)
  }

  fileprivate static func duplicate(
    of first: RegisteredEntry, by later: RegisteredEntry
  ) -> Problem {
    let remedy = remedy(for: first, later)
    let place = Source.told(apart: [first.source, later.source])[0]
    return Problem(.duplicate, "\(place) already provides it; \(remedy)", related: [first.source])
  }

  /// Returns the remedy for the authors of two duplicates, in their language.
  private static func remedy(for first: RegisteredEntry, _ later: RegisteredEntry) -> Remedy {
    guard later.kind == .service, later.isC else { return .distinguish(later.kind) }
    // An entry that a C host registers by a call has neither a name nor a priority.
    let isRecorded = first.image != nil || later.image != nil
    return isRecorded ? .distinguishInC : .unregisterFirst
  }
}
