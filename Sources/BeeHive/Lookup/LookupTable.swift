public import Synchronization

/// An open-addressed table from a word to an object, read without a lock while one writer changes it.
///
/// Readers probe inside a read section (`CEpoch`). The writer, which holds the Hive's lock, inserts
/// and replaces in place, so that a change costs the same beside ten entries and a million; only
/// growth copies. What a writer takes out is handed to `Reclaimer`, never freed at once.
@unsafe @usableFromInline
struct LookupTable {
  /// One slot: the key is written once, after its object, and never taken back.
  @unsafe @usableFromInline
  struct Slot: ~Copyable {
    @usableFromInline let key: Atomic<UInt>
    @usableFromInline let object: Atomic<UnsafeRawPointer?>

    init() {
      unsafe key = Atomic(0)
      unsafe object = Atomic(nil)
    }
  }

  /// The number of slots less one; the number is a power of two.
  @usableFromInline let mask: UInt
  @usableFromInline let slots: UnsafeMutablePointer<Slot>

  /// An empty table for up to `capacity / 2` keys; `capacity` is a power of two.
  init(capacity: Int) {
    unsafe mask = UInt(capacity - 1)
    unsafe slots = UnsafeMutablePointer<Slot>.allocate(capacity: capacity)
    for index in 0..<capacity {
      unsafe (slots + index).initialize(to: Slot())
    }
  }

  /// Frees the slots, not the objects.
  func deallocate() {
    unsafe slots.deinitialize(count: Int(mask) + 1)
    unsafe slots.deallocate()
  }

  /// Spreads the bits of an address or of a hash over the table.
  @inlinable @inline(__always)
  static func start(of key: UInt) -> UInt {
    (key &* 0x9E37_79B9_7F4A_7C15) >> 32
  }

  /// The object that stands for `key`, unretained: valid until the read section ends.
  @inlinable @inline(__always)
  func find(_ key: UInt) -> UnsafeRawPointer? {
    var index = unsafe LookupTable.start(of: key) & mask
    while true {
      let found = unsafe slots[Int(index)].key.load(ordering: .acquiring)
      if found == key { return unsafe slots[Int(index)].object.load(ordering: .acquiring) }
      if found == 0 { return nil }
      index = unsafe (index &+ 1) & mask
    }
  }

  /// Puts an object, or nothing, in the place of `key`: what stood there, and whether the key is new.
  ///
  /// The caller holds the writer's lock and has made sure that an empty slot is left.
  func exchange(
    _ key: UInt, for object: UnsafeRawPointer?
  ) -> (old: UnsafeRawPointer?, isNew: Bool) {
    var index = unsafe LookupTable.start(of: key) & mask
    while true {
      let found = unsafe slots[Int(index)].key.load(ordering: .relaxed)
      if found == key {
        let slot = unsafe slots + Int(index)
        return (
          unsafe slot.pointee.object.exchange(object, ordering: .acquiringAndReleasing), false
        )
      }
      if found == 0 {
        unsafe slots[Int(index)].object.store(object, ordering: .relaxed)
        unsafe slots[Int(index)].key.store(key, ordering: .releasing)
        return (nil, true)
      }
      index = unsafe (index &+ 1) & mask
    }
  }

  /// Calls `body` with each key that has an object.
  func forEach(_ body: (UInt, UnsafeRawPointer) -> Void) {
    for index in 0...Int(unsafe mask) {
      let key = unsafe slots[index].key.load(ordering: .relaxed)
      if let object = unsafe slots[index].object.load(ordering: .relaxed), key != 0 {
        unsafe body(key, object)
      }
    }
  }
}
