internal import Synchronization

/// An object that the first caller makes, and that is kept for good.
///
/// As `AtomicLazyReference`, which the Synchronization library does not inline: ThreadSanitizer does
/// not see its orderings, and would report users of the Hive.
@safe struct LazyReference<Object: AnyObject & Sendable>: ~Copyable, Sendable {
  // Sound: the one reference that is ever stored is retained until `deinit`, and its store releases
  // what the loads acquire.
  private let stored = unsafe Atomic<Unmanaged<Object>?>(nil)

  deinit { unsafe stored.load(ordering: .acquiring)?.release() }

  /// The object, if it has been made.
  func load() -> Object? { unsafe stored.load(ordering: .acquiring)?.takeUnretainedValue() }

  /// The object; `make` may run on several threads, and one of the results is kept.
  func get(_ make: () -> Object) -> Object {
    if let object = load() { return object }
    let mine = unsafe Unmanaged.passRetained(make())
    let (isMine, others) = unsafe stored.compareExchange(
      expected: nil, desired: mine, ordering: .acquiringAndReleasing)
    guard !isMine, let others = unsafe others else { return unsafe mine.takeUnretainedValue() }
    unsafe mine.release()
    return unsafe others.takeUnretainedValue()
  }
}
