internal import LibC

/// The only place that reads the compiler's tables.
///
/// Sound because every address derives from a section that a loaded image registered with the Swift
/// runtime, by offsets that the runtime itself follows at the first cast: the tables are constant,
/// mapped for ever, and aligned to 4 bytes.
enum Memory {
  /// The 32 bits at an address.
  static func word(at address: UInt) -> UInt32 {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return 0 }
    return unsafe pointer.load(as: UInt32.self)
  }

  /// Where the relative pointer in a field leads; nil for a null one.
  ///
  /// `indirectIf` is the bit that makes it lead to a pointer instead.
  static func pointer(at field: UInt, indirectIf bit: UInt32 = 0) -> UInt? {
    let offset = word(at: field)
    let distance = Int(Int32(bitPattern: offset & ~bit))
    guard distance != 0 else { return nil }
    let target = field &+ UInt(bitPattern: distance)
    guard offset & bit != 0 else { return target }
    return self.address(at: target)
  }

  /// The pointer stored at an address; nil for null, or where no pointer can be.
  static func address(at address: UInt) -> UInt? {
    guard address % UInt(MemoryLayout<UInt>.alignment) == 0,
      let pointer = unsafe UnsafeRawPointer(bitPattern: address)
    else { return nil }
    let value = unsafe pointer.load(as: UInt.self)
    return value == 0 ? nil : value
  }

  /// The NUL-terminated text at an address, without its NUL.
  static func text(at address: UInt) -> UnsafeRawBufferPointer {
    let start = unsafe UnsafePointer<CChar>(bitPattern: address)
    return unsafe UnsafeRawBufferPointer(start: start, count: start.map { unsafe strlen($0) } ?? 0)
  }

  /// The type whose metadata lies at an address: an `Any.Type` is nothing but that address.
  static func type(_ metadata: UnsafeRawPointer) -> any Any.Type {
    unsafe unsafeBitCast(metadata, to: Any.Type.self)
  }

  /// The type with the mangled name at an address; nil for one that depends on generic arguments.
  static func type(mangled address: UInt) -> (any Any.Type)? {
    guard let start = unsafe UnsafePointer<UInt8>(bitPattern: address) else { return nil }
    // Symbolic references are inside the name: a control byte, then 4 or 8 bytes that may be 0.
    var count = 0
    while true {
      switch unsafe start[count] {
      case 0:
        return unsafe _getTypeByMangledNameInContext(
          start, UInt(count), genericContext: nil, genericArguments: nil)
      case 0x01...0x17: count += 5
      case 0x18...0x1f: count += 1 + MemoryLayout<UInt>.size
      default: count += 1
      }
    }
  }
}
