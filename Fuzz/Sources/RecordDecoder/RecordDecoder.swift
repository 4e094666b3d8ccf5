internal import BinaryImage
internal import Harness
internal import Registration

/// Reads any bytes as the three sections of an image. The first byte chooses class and byte order.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = unsafe copied(start, min(count, 1 << 16))
  guard let choice = input.first else { return 0 }
  let image = BareImage(
    bits: choice & 1 == 0 ? 64 : 32, byteOrder: choice & 2 == 0 ? .little : .big,
    bytes: Array(input.dropFirst()))
  guard let scan = try? Scan(of: image) else { return 0 }
  for record in scan.records { precondition(!record.name.isEmpty) }
  for rejection in scan.rejections { precondition(!rejection.message.isEmpty) }
  return 0
}

/// An image that is nothing but the contents of its sections: pointers count from their start.
private struct BareImage: Image {
  let identity: ImageIdentity
  let bytes: [UInt8]

  init(bits: Int, byteOrder: ImageIdentity.ByteOrder, bytes: [UInt8]) {
    identity = ImageIdentity(
      path: "input", format: .elf, bits: bits, byteOrder: byteOrder, machine: "x86_64",
      kind: .shared)
    self.bytes = bytes
  }

  func sections(named name: String) -> [Section] {
    [
      Section(
        index: 1, name: name, address: VirtualAddress(rawValue: 0), offset: nil,
        size: UInt64(bytes.count))
    ]
  }

  func withBytes<Result>(of section: Section, _ body: (Span<UInt8>) -> Result) -> Result {
    body(bytes.span)
  }

  func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    let place = Int(offset)
    guard place + pointerSize <= bytes.count else {
      throw ImageError(.truncated, image: "input", message: "No pointer stands here.")
    }
    let word = bytes[place..<place + pointerSize]
    let value = (identity.byteOrder == .little ? Array(word.reversed()) : Array(word))
      .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return PointerValue(
      rawValue: value,
      target: value == 0 ? .null : .address(VirtualAddress(rawValue: value % 0x1_0000)),
      resolution: .absolute)
  }

  func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    guard case .address(let address) = target, address.rawValue < UInt64(bytes.count) else {
      throw ImageError(.outOfImage, image: "input", message: "It leads out of the input.")
    }
    let text = Array(bytes[Int(address.rawValue)...].prefix(limit + 1).prefix { $0 != 0 })
    guard text.count <= limit else {
      throw ImageError(.unterminated, image: "input", message: "It does not end.")
    }
    return body(text.span)
  }
}
