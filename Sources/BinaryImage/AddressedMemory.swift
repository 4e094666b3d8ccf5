/// What is at an image's addresses, as a C structure there will be read: in a linked file as the loader
/// will leave it, in a process as it is.
package protocol AddressedMemory {
  /// The size of a pointer in bytes.
  var pointerSize: Int { get }
  /// The multiple that the address of a pointer is.
  var pointerAlignment: Int { get }
  /// The address that a pointer of the image leads to.
  func address(of pointer: PointerValue) -> KnownAddress
  /// The unsigned integer of so many bytes at an address; nil where they cannot be read.
  func integer(at address: UInt64, size: Int) -> UInt64?
  /// Where the pointer at an address leads; nil where none can be read.
  func pointer(at address: UInt64) -> KnownAddress?
  /// Whether so many bytes can be read from an address on.
  func holdsData(_ address: UInt64, size: UInt64) -> Bool
  /// Whether an address leads to code.
  func holdsCode(_ address: UInt64) -> Bool
}

extension AddressedMemory {
  /// As in the processes that this can run in.
  package var pointerAlignment: Int { pointerSize }
}

/// Where a pointer leads, as far as that is known.
package enum KnownAddress: Hashable, Sendable {
  /// Nowhere.
  case null
  /// To this address.
  case address(UInt64)
  /// To where no image has anything: a number that nothing relocates.
  case outside(UInt64)
  /// To another image; where, a file does not tell.
  case elsewhere
}

/// A linked file as memory: its pointers as its relocations say that the loader will write them.
struct LinkedMemory: AddressedMemory {
  private let file: any FileImage
  private let sections: [Section]
  private let hasDescriptors: Bool
  let pointerSize, pointerAlignment: Int
  private let order: ImageIdentity.ByteOrder

  /// Nil where addresses mean nothing or pointers cannot be read: in objects, cores, and without sections.
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
    // By index, since a copy of each section costs more than the comparison.
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
    // A pointer to a function leads to its descriptor there, which is data.
    isIn(address) { hasDescriptors ? $0 != .outside : $0 == .code }
  }

  private func isIn(_ address: UInt64, _ condition: (TargetMemory) -> Bool) -> Bool {
    (try? file.memory(at: .address(VirtualAddress(rawValue: address)))).map(condition) ?? true
  }
}
