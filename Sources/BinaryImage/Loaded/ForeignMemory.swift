internal import CImageList

/// The memory that an image refers to by address, checked before it is read or called.
///
/// An address outside every image, or where the image has no code or no data, is a fault of the record. An address of
/// other code or data of an image is its author's fault, which nothing can detect.
package enum ForeignMemory: AddressedMemory, Sendable {
  /// An image that stays mapped has declared it.
  case image
  /// The host has registered it, and may keep it anywhere.
  case host

  package var pointerSize: Int { MemoryLayout<UInt>.size }

  package func address(of pointer: PointerValue) -> KnownAddress {
    pointer.rawValue == 0 ? .null : .address(pointer.rawValue)
  }

  package func integer(at address: UInt64, size: Int) -> UInt64? {
    guard holdsData(address, size: UInt64(size)) else { return nil }
    // Little-endian, like every machine that this library is built for.
    var value: UInt64 = 0
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: UInt(address)) else { return nil }
    unsafe withUnsafeMutableBytes(of: &value) {
      unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: pointer, count: size))
    }
    return value
  }

  package func pointer(at address: UInt64) -> KnownAddress? {
    integer(at: address, size: pointerSize).map { $0 == 0 ? .null : .address($0) }
  }

  package func holdsData(_ address: UInt64, size: UInt64) -> Bool {
    size <= readable(from: RuntimeAddress(rawValue: UInt(address)))
  }

  package func holdsCode(_ address: UInt64) -> Bool {
    if case .host = self { return true }
    return segment(holding: UInt(address))?.executable == true
  }

  /// Returns the number of bytes that can be read from an address on, to the end of its segment.
  private func readable(from address: RuntimeAddress) -> UInt64 {
    if case .host = self { return .max }
    guard let segment = segment(holding: address.rawValue), segment.readable else { return 0 }
    return UInt64(segment.range.stop - address.rawValue)
  }

  /// Returns the segment that holds an address, of any image; nil if no image holds it.
  ///
  /// The protection is the one that the image asked for, `PT_LOAD` and its `p_flags`, not what somebody has set since.
  /// Takes no lock if the loader has an index (glibc 2.36), else the loader's: call it with no lock held. The answer
  /// holds as long as the image is mapped.
  private func segment(holding address: UInt) -> image_segment? {
    var found = image_segment()
    return unsafe image_segment_find(address, &found) ? found : nil
  }

  /// Returns the text at an address; nil if it cannot be read or does not end.
  package func text(at address: RuntimeAddress) -> String? {
    let limit = readable(from: address)
    guard let start = unsafe UnsafePointer<UInt8>(bitPattern: address.rawValue) else { return nil }
    // Sound: so many bytes are mapped, or it is the host's own text.
    var count = 0
    while count < limit, unsafe start[count] != 0 { count += 1 }
    guard count < limit else { return nil }
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }
}

extension LoadedImage {
  /// The memory of this process; the image stays mapped in it.
  package var addressedMemory: (any AddressedMemory)? { ForeignMemory.image }
}
