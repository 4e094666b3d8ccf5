public import Synchronization

/// An open-addressed table from a word to an object, read without a lock while one writer changes it.
///
/// Readers probe inside a read section (`CEpoch`). The writer, which holds the Hive's lock, inserts and replaces in
/// place; only growth copies. So a change costs the same with ten entries and with a million. `LookupCache` retires the
/// entries that a writer takes out; nothing is freed at once.
@unsafe @usableFromInline
struct WordTable {
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

  /// The address of the slots and, in its low bits, the shift that makes a position of a hash.
  ///
  /// One word, so that a lookup loads nothing between this and its slot.
  @usableFromInline let bits: UInt

  // Slots begin at a cache line, which leaves more low bits than a shift needs.
  private static let alignment = 64

  /// Creates an empty table for up to `capacity / 2` keys; `capacity` is a power of two.
  init(capacity: Int) {
    let memory = unsafe UnsafeMutableRawPointer.allocate(
      byteCount: capacity * MemoryLayout<Slot>.stride, alignment: Self.alignment)
    let slots = unsafe memory.bindMemory(to: Slot.self, capacity: capacity)
    for index in 0..<capacity { unsafe (slots + index).initialize(to: Slot()) }
    let shift = UInt(UInt.bitWidth - capacity.trailingZeroBitCount)
    unsafe bits = UInt(bitPattern: slots) | shift
  }

  /// Wraps the table whose `bits` a word holds.
  @inlinable @inline(__always)
  init(bits: UInt) { unsafe self.bits = bits }

  /// Frees the slots, not the objects.
  func deallocate() {
    unsafe slots.deinitialize(count: capacity)
    unsafe slots.deallocate()
  }

  /// The number of slots.
  var capacity: Int { Int(unsafe mask) + 1 }

  /// The slots. Sound: the address is the address of an allocation, so it is not null.
  @inlinable @inline(__always)
  var slots: UnsafeMutablePointer<Slot> {
    unsafe UnsafeMutablePointer(bitPattern: bits & ~63).unsafelyUnwrapped
  }

  /// The number of slots less one.
  @inlinable @inline(__always)
  var mask: UInt { unsafe .max &>> bits }

  /// Returns the first slot to try for a key: the high bits of a product that depends on all bits of the key.
  ///
  /// A masking shift uses only the low bits of its right side, and those are the shift.
  @inlinable @inline(__always)
  func start(of key: UInt) -> UInt { unsafe (key &* 0x9E37_79B9_7F4A_7C15) &>> bits }

  /// Returns the object of `key`, unretained: valid until the read section ends.
  @inlinable @inline(__always)
  func find(_ key: UInt) -> UnsafeRawPointer? {
    var index = unsafe start(of: key)
    while true {
      let found = unsafe slots[Int(index)].key.load(ordering: .acquiring)
      if found == key { return unsafe slots[Int(index)].object.load(ordering: .acquiring) }
      if found == 0 { return nil }
      index = unsafe (index &+ 1) & mask
    }
  }

  /// Sets or removes the object of `key`. Returns the object before, and whether the key is new.
  ///
  /// The caller holds the writer's lock and has made sure that an empty slot is left.
  func exchange(
    _ key: UInt, for object: UnsafeRawPointer?
  ) -> (old: UnsafeRawPointer?, isNew: Bool) {
    var index = unsafe start(of: key)
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
    for index in 0..<(unsafe capacity) {
      let key = unsafe slots[index].key.load(ordering: .relaxed)
      if let object = unsafe slots[index].object.load(ordering: .relaxed), key != 0 {
        unsafe body(key, object)
      }
    }
  }
}
