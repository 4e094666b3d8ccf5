import BinaryImage
import Registration

extension Record {
  /// An entry without any data.
  static var blank: Record {
    Record(
      kind: .module, name: "", implementation: nil, encoding: .pointer,
      origin: Origin(image: "", section: "", index: 0, address: VirtualAddress(rawValue: 0)))
  }
}

extension ImageIdentity {
  static var blank: ImageIdentity {
    ImageIdentity(path: "", format: .elf, bits: 64, byteOrder: .little, machine: "", kind: .shared)
  }
}
