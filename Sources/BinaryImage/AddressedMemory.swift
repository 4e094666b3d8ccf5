/// The memory at an image's addresses, for reading C structures in it: in a linked file as the loader will leave it, in
/// a process as it is.
package protocol AddressedMemory {
  /// The size of a pointer in bytes.
  var pointerSize: Int { get }
  /// The alignment of a pointer in bytes.
  var pointerAlignment: Int { get }
  /// Returns the address that a pointer of the image leads to.
  func address(of pointer: PointerValue) -> KnownAddress
  /// Returns the unsigned integer of `size` bytes at an address; nil if they cannot be read.
  func integer(at address: UInt64, size: Int) -> UInt64?
  /// Returns the target of the pointer at an address; nil if no pointer can be read.
  func pointer(at address: UInt64) -> KnownAddress?
  /// Returns whether `size` bytes can be read from an address on.
  func holdsData(_ address: UInt64, size: UInt64) -> Bool
  /// Returns whether an address leads to code.
  func holdsCode(_ address: UInt64) -> Bool
}

extension AddressedMemory {
  /// The size of a pointer, as in the processes that this can run in.
  package var pointerAlignment: Int { pointerSize }
}

/// The target of a pointer, as far as it is known.
package enum KnownAddress: Hashable, Sendable {
  /// No target.
  case null
  /// This address.
  case address(UInt64)
  /// A number that nothing relocates; no image has anything there.
  case outside(UInt64)
  /// Another image; the file does not tell where in it.
  case elsewhere
}

/// A linked file as memory. Its pointers are as the loader will write them, by its relocations.
struct LinkedMemory: AddressedMemory {
  private let file: any FileImage
  private let sections: [Section]
  private let hasDescriptors: Bool
  let pointerSize, pointerAlignment: Int
  private let order: ImageIdentity.ByteOrder

  /// Nil if addresses mean nothing or pointers cannot be read: in objects, cores, and without sections.
  init?(_ file: any FileImage) {
    let identity = file.identity
    guard ![.object, .core, .debug].contains(identity.kind),
      let (sections, hasDescriptors) = try? file.mappedSections()
    else { return nil }
    (self.file, pointerSize, order) = (file, identity.bits / 8, identity.byteOrder)
    (self.sections, self.hasDescriptors) = (sections, hasDescriptors)
    pointerAlignment = file.pointerAlignment
  }

  func address(of pointer: PointerValue) -> KnownAddress {
    if pointer.resolution == .number { return .outside(pointer.rawValue) }
    return switch pointer.target {
    case .null: .null
    case .address(let address): .address(address.rawValue)
    case .section, .imported, .foreign, .unresolvable: .elsewhere
    }
  }

  func integer(at address: UInt64, size: Int) -> UInt64? {
    let place = VirtualAddress(rawValue: address)
    guard (try? file.checkKept(at: place, count: UInt64(size))) != nil else { return nil }
    guard let bytes = try? file.bytes(at: place, count: size) else {
      return (try? file.memory(at: .address(place))) == .zeros ? 0 : nil
    }
    return order.number(of: bytes[...])
  }

  func pointer(at address: UInt64) -> KnownAddress? {
    // By index, because a copy of each section costs more than the comparison.
    let section = sections.indices.first {
      address &- sections[$0].address.rawValue < sections[$0].size
    }.map { sections[$0] }
    guard let section else { return integer(at: address, size: 1) == 0 ? .null : nil }
    let (place, count) = (VirtualAddress(rawValue: address), UInt64(pointerSize))
    guard (try? file.checkKept(at: place, count: count, isPointer: true)) != nil else { return nil }
    let pointer = try? file.pointer(at: address - section.address.rawValue, in: section)
    return pointer.map(self.address)
  }

  func holdsData(_ address: UInt64, size: UInt64) -> Bool {
    guard size > 0 else { return true }
    let (last, isHuge) = address.addingReportingOverflow(size - 1)
    return !isHuge && [address, last].allSatisfy { isIn($0) { $0 != .outside } }
  }

  func holdsCode(_ address: UInt64) -> Bool {
    // With descriptors, a pointer to a function leads to its descriptor, which is data.
    isIn(address) { hasDescriptors ? $0 != .outside : $0 == .code }
  }

  private func isIn(_ address: UInt64, _ condition: (TargetMemory) -> Bool) -> Bool {
    (try? file.memory(at: .address(VirtualAddress(rawValue: address)))).map(condition) ?? true
  }
}
