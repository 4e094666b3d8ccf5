internal import CEpoch
internal import Threads

/// Keeps what a writer has unpublished until no reader can see it any more.
///
/// The scheme is epoch-based: each retirement is tagged with the epoch that it ends, and is let go
/// once every running read section has begun later. Readers are never waited for: a long one only
/// postpones. Collection runs every `batch` retirements, so memory stays near what is live.
@safe final class Reclaimer: Sendable {
  /// Something that no one can reach any more, except readers that began before it was unpublished.
  @safe
  private struct Retired: @unchecked Sendable {
    // Sound: owns what it holds, and one thread releases it once.
    var tag: UInt64
    var object: UnsafeRawPointer?  // a retained object
    var table: LookupTable?

    /// Lets it go. Runs the object's deinitialiser: never called with a lock held.
    func release() {
      if let object = unsafe object { unsafe Unmanaged<AnyObject>.fromOpaque(object).release() }
      if let table = unsafe table { unsafe table.deallocate() }
    }
  }

  private static let batch = 64
  private let retired = Lock<[Retired]>([])

  /// Takes over what has just been unpublished: a retained object, or a table without the objects in it.
  func retire(object: UnsafeRawPointer? = nil, table: LookupTable? = nil) {
    let item = unsafe Retired(tag: beehive_epoch_end(), object: object, table: table)
    retired.withLock { $0.append(item) }
  }

  /// How many retired things are still waiting.
  var count: Int { retired.withLock { $0.count } }

  /// Lets go of what no reader can see any more, if enough has gathered or `now` is true.
  ///
  /// The caller holds no lock: deinitialisers of user types run here.
  func collect(now: Bool = false) {
    guard now || count >= Self.batch else { return }
    let oldest = beehive_epoch_oldest()
    let free = retired.withLock { list in
      let free = list.filter { $0.tag < oldest }
      list.removeAll { $0.tag < oldest }
      return free
    }
    for item in free { item.release() }
  }

  deinit {
    // The owner is going, and with it every reader of its tables.
    for item in retired.withLock({ $0 }) { item.release() }
  }
}
