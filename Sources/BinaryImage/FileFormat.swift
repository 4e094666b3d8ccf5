/// A format of files that hold one image.
package protocol FileFormat: FileImage, AnyObject {
  /// Whether a file that starts with these bytes is of this format.
  static func recognises(_ head: [UInt8]) -> Bool

  /// Reads the headers of an open file.
  init(_ file: OpenedFile) throws(ImageError)

  /// The file.
  var file: OpenedFile { get }
  /// The size of a word in bits, and the order of its bytes.
  var words: (bits: Int, order: ImageIdentity.ByteOrder) { get }

  /// The bytes of the file from a linked address to the end of its segment, of which `count` are
  /// read; nil where there are none.
  func extent(from address: VirtualAddress, reading count: UInt64) throws(ImageError) -> FileExtent?

  /// Whether this has the debug information alone that was split from another file.
  var hasOnlyDebugInformation: Bool { get }

  /// What the header of a section claims, in this part of the file: it decides, not what the caller
  /// made of it. Without an offset, the file has no bytes of the section.
  func location(
    of section: Section
  ) throws(ImageError) -> (offset: UInt64?, size: UInt64, isCompressed: Bool)

  /// The bytes of a section that is compressed; nil of any other.
  func inflated(_ section: Section) throws(ImageError) -> [UInt8]?

  /// Refuses bytes that mean nothing as they are.
  func checkReadable(_ offset: UInt64, _ size: UInt64) throws(ImageError)

  /// What a word means that is `offset` bytes into a section.
  func pointer(
    of raw: UInt64, at offset: UInt64, in section: Section
  ) throws(ImageError) -> PointerValue

  /// A section by its index, for a pointer that leads into it.
  func anySection(_ index: Int) throws(ImageError) -> Section

  /// What `sections(named:)` answers if the file does not change meanwhile.
  func findSections(named name: String) throws(ImageError) -> [Section]

  /// What `checkExtents` throws if the file does not change meanwhile.
  func checkDeclared() throws(ImageError)
}

extension FileFormat {
  /// Opens the file at `path`; errors and the identity call it `name`, or else the path.
  package init(path: String, name: String? = nil) throws(ImageError) {
    try self.init(OpenedFile(path: path, name: name ?? path))
  }

  /// Which bytes of which file the image is.
  package var part: FilePart { file.part }

  /// Without the rest of the identity, which costs more.
  package var pointerSize: Int { words.bits / 8 }

  /// Likewise.
  package var path: String { file.path }

  /// Every section of exactly this name, in table order; empty where there is none.
  package func sections(named name: String) throws(ImageError) -> [Section] {
    try file.tellingChanges { () throws(ImageError) in try findSections(named: name) }
  }

  /// Throws where the file ends before something does that it declares, or contradicts itself.
  package func checkExtents() throws(ImageError) {
    try file.tellingChanges { () throws(ImageError) in try checkDeclared() }
    try file.checkUnchanged()
  }

  /// The bytes that the file maps at a linked address, in file byte order.
  package func bytes(at address: VirtualAddress, count: Int) throws(ImageError) -> [UInt8] {
    let extent = try extent(from: address, reading: UInt64(count))
    guard let extent, extent.size >= UInt64(count) else { throw file.outsideSegments(address) }
    let (bytes, position) = try file.load(at: extent.offset, count: count)
    return Array(bytes[position..<position + count])
  }

  /// Lends the text that starts at a pointer's target, without its NUL, for the call's duration.
  package func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    switch target {
    case .address(let address):
      guard let extent = try extent(from: address, reading: 1) else {
        throw file.outsideSegments(address)
      }
      return try file.withText(at: extent.offset, size: extent.size, limit: limit, body)
    case .section(let index, let offset):
      return try withText(inSection: index, from: offset, limit: limit, body)
    case .null, .imported, .foreign, .unresolvable:
      throw file.noText(at: target)
    }
  }
}
