public import CEpoch
public import Synchronization
internal import Threads

/// The kept answer of a lookup, valid until something comes or goes that could change it.
@usableFromInline
class CachedService: @unchecked Sendable {
  // Sound: immutable, as its subclasses.
  /// The name that the lookup asked for; nil if it asked for the type only.
  @usableFromInline let name: String?

  init(name: String?) { self.name = name }

  /// A function that finds the service again as long as somebody else keeps it; nil if the service is not an object.
  var lent: (@Sendable () -> CachedService?)? { nil }

  /// Returns the service as another type, for an entry that shares it; nil if it does not serve as that.
  func value<Other>(as type: Other.Type) -> Other? { nil }

  /// Disposes of the service. Its keeper calls this once, with no lock held.
  func end() {}
}

/// A resolved service with its type. `WordTable` holds it for the key of `Service`.
@usableFromInline
final class CachedValue<Service: Sendable>: CachedService, @unchecked Sendable {
  // Sound: immutable, and so is its superclass.
  @usableFromInline let value: Service

  init(_ value: Service, name: String?) {
    self.value = value
    super.init(name: name)
  }

  override var lent: (@Sendable () -> CachedService?)? {
    guard type(of: value as Any) is AnyClass else { return nil }
    // Sound: the object is a `Sendable` service, which `AnyObject` does not say.
    nonisolated(unsafe) weak let object: AnyObject? = value as AnyObject
    return { unsafe (object as? Service).map { CachedValue($0, name: nil) } }
  }

  override func value<Other>(as type: Other.Type) -> Other? { value as? Other }

  override func end() { (value as? any Disposable)?.dispose() }
}

/// The resolved services of one Hive: lookups that hit read it without a lock.
///
/// Writers call `publish` under the Hive's lock, and `collect` after leaving it.
///
/// Parts that a writer takes out are released by epochs. Each retirement has the tag of the epoch that it ends, and is
/// released once every running read section has begun later. Nobody waits for readers: a long read section only delays
/// the release. Collection runs every `batch` retirements, so memory stays near what is live.
@safe @usableFromInline
struct LookupCache: ~Copyable, @unchecked Sendable {
  // Sound: what `current` leads to is shared by the rules of `WordTable`.
  /// The bits of the table in use.
  @usableFromInline let current: Atomic<UInt>
  private let used = Atomic<Int>(0)  // keys in the table; only writers look
  private static let batch = 64
  /// The parts that each retirement releases, and the epoch that it ended.
  private let retired = Lock<[(tag: UInt64, release: @Sendable () -> Void)]>([])

  init(capacity: Int = 16) { unsafe current = Atomic(WordTable(capacity: capacity).bits) }

  /// The table in use; a reader asks within a read section.
  @inlinable @inline(__always)
  var table: WordTable { unsafe WordTable(bits: current.load(ordering: .acquiring)) }

  /// Returns the key of a service type.
  @inlinable @inline(__always)
  static func key<Service>(of type: Service.Type) -> UInt {
    UInt(bitPattern: ObjectIdentifier(type as Any.Type))
  }

  /// Returns the key of a service type with a registered name.
  static func key<Service>(of type: Service.Type, name: String) -> UInt {
    var hasher = Hasher()
    hasher.combine(ObjectIdentifier(type as Any.Type))
    hasher.combine(name)
    // Never the key of a plain type or of a recipe: types are at multiples of four.
    return UInt(bitPattern: hasher.finalize()) & ~3 | 1
  }

  /// Returns the key of a recipe, from the key of the service that it makes.
  static func recipeKey(_ key: UInt) -> UInt { key | 2 }

  /// Returns the object of `key`, which is the key of `Service`. The caller is in a read section; the object is valid
  /// until the section ends.
  @inlinable @inline(__always)
  func cached<Service: Sendable>(
    _ type: Service.Type, at key: UInt
  ) -> Unmanaged<CachedValue<Service>>? {
    guard let object = unsafe table.find(key) else { return nil }
    // Sound: the object of a type's key is a `CachedValue` of the type.
    return unsafe Unmanaged<CachedValue<Service>>.fromOpaque(object)
  }

  /// Lends the service of `key` for the call's duration; nil if there is none.
  @inlinable @inline(__always)
  func withValue<Service: Sendable, Result>(
    _ type: Service.Type, at key: UInt, _ body: (borrowing Service) throws -> Result
  ) rethrows -> Result? {
    let reader = unsafe beehive_read_begin()
    defer { unsafe beehive_read_end(reader) }
    guard let cached = unsafe cached(type, at: key) else { return nil }
    return try unsafe cached._withUnsafeGuaranteedRef { try body($0.value) }
  }

  /// Returns the object of a key; nil if there is none, or if the key belongs to another name.
  func object(at key: UInt, name: String?) -> CachedService? {
    let reader = unsafe beehive_read_begin()
    defer { unsafe beehive_read_end(reader) }
    guard let object = unsafe table.find(key) else { return nil }
    let cached = unsafe Unmanaged<CachedService>.fromOpaque(object).takeUnretainedValue()
    return cached.name == name ? cached : nil
  }

  /// The number of slots of the table that is in use.
  var capacity: Int { unsafe table.capacity }

  /// Stores a service for `key`; nil takes it out.
  func publish(_ service: CachedService?, for key: UInt) {
    reserve()
    let table = unsafe self.table
    let object = unsafe service.map {
      unsafe UnsafeRawPointer(Unmanaged.passRetained($0).toOpaque())
    }
    let (old, isNew) = unsafe table.exchange(key, for: object)
    if isNew { used.wrappingAdd(1, ordering: .relaxed) }
    if let old = unsafe old {
      let object = unsafe Unmanaged<CachedService>.fromOpaque(old)
      retire { unsafe object.release() }
    }
  }

  /// Retires a part that was just unpublished. `release` frees the part, and may run code of the user's.
  private func retire(_ release: @escaping @Sendable () -> Void) {
    let tag = beehive_epoch_end()
    retired.withLock { $0.append((tag, release)) }
  }

  /// The number of withdrawn services and tables that still wait for readers.
  var retiredCount: Int { retired.withLock { $0.count } }

  /// Releases the parts that no reader can see any more, if enough have gathered or `now` is true.
  ///
  /// The caller holds no lock: deinitialisers of user types run here.
  func collect(now: Bool = false) {
    guard now || retiredCount >= Self.batch else { return }
    let oldest = beehive_epoch_oldest()
    let free = retired.withLock { list in
      let free = list.filter { $0.tag < oldest }
      list.removeAll { $0.tag < oldest }
      return free
    }
    for item in free { item.release() }
  }

  /// Makes room for one more key. If the table is half full, counting keys that were taken out, replaces it by a table
  /// that is at most a quarter full.
  private func reserve() {
    let old = unsafe table
    guard used.load(ordering: .relaxed) * 2 >= (unsafe old.capacity) else { return }
    var kept = 0
    unsafe old.forEach { _, _ in kept += 1 }
    var capacity = 16
    while capacity < (kept + 1) * 4 { capacity *= 2 }
    let new = unsafe WordTable(capacity: capacity)
    unsafe old.forEach { key, object in _ = unsafe new.exchange(key, for: object) }
    used.store(kept, ordering: .relaxed)
    current.store(unsafe new.bits, ordering: .releasing)
    let bits = unsafe old.bits
    retire { unsafe WordTable(bits: bits).deallocate() }
  }

  deinit {
    let table = unsafe table
    unsafe table.forEach { _, object in unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
    unsafe table.deallocate()
    // The owner is going, and with it every reader of its tables.
    for item in retired.withLock({ $0 }) { item.release() }
  }
}

// Keeps answers for lookups, and drops the answers that an entry makes stale when it comes or goes.
extension Hive.State {
  /// Keeps an answer for lookups that take no lock, unless an entry has come or gone since `version`.
  ///
  /// `entry` gave the answer; nil for a miss. An entry of one of `names` could give another answer.
  mutating func publish(
    _ answer: CachedService, for key: UInt, of entry: RegisteredEntry?, named names: [String],
    version: Int, cache: borrowing LookupCache
  ) {
    guard entry?.isWithdrawn != true, table.version == version, taskOverrideCount == 0 else {
      return
    }
    // An entry whose name ends in the same part could be asked for by the same name.
    let ends = Set(names.map(TypeName.end))
    // Misses are limited: there is no end to the names that nothing has.
    let isMiss = entry == nil
    if isMiss, ends.contains(where: { publishedKeys[$0, default: []].count >= 256 }) { return }
    for end in ends { publishedKeys[end, default: []].insert(key) }
    cache.publish(answer, for: key)
  }

  /// Adds an entry, and drops the answers that it might change.
  mutating func add(_ entry: RegisteredEntry, cache: borrowing LookupCache) {
    table.add(entry)
    observers.post(entry.snapshot.notice)
    forgetAnswers(of: entry, cache: cache)
  }

  /// Drops the kept answers that depend on an entry.
  mutating func forgetAnswers(of entry: RegisteredEntry, cache: borrowing LookupCache) {
    guard entry.kind == .service, !publishedKeys.isEmpty else { return }
    // Other entries have its instance under their names; such entries are few.
    if entry.attributes.shared != nil { return forgetAllAnswers(cache: cache) }
    if case .accessor(let accessor) = entry.maker, accessor.hasOtherName {
      // Lookups name its type, which its own name does not tell; such entries are few.
      forgetAllAnswers(cache: cache)
    } else {
      forgetAnswers(named: entry.name, cache: cache)
    }
  }

  /// Drops every kept answer.
  mutating func forgetAllAnswers(cache: borrowing LookupCache) {
    for key in publishedKeys.values.joined() { cache.publish(nil, for: key) }
    publishedKeys = [:]
  }

  /// Drops the kept answers that depend on services of this name: those for names that end in the same part.
  mutating func forgetAnswers(named name: String, cache: borrowing LookupCache) {
    guard !publishedKeys.isEmpty else { return }
    let keys = publishedKeys.removeValue(forKey: TypeName.end(of: name))
    for key in keys ?? [] { cache.publish(nil, for: key) }
  }
}
