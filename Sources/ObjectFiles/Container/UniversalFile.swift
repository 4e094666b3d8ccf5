internal import BinaryImage

/// A universal file: Mach-O files or archives for several machines, one behind the other.
///
/// C: `struct fat_header`, `fat_arch` and `fat_arch_64` of `<mach-o/fat.h>`.
struct UniversalFile: ContainerFormat {
  /// One `fat_arch`.
  private struct Slice {
    var name: String
    var offset: UInt64
    var size: UInt64

    init(_ fields: MachOFields) throws(MachOFields.TooShort) {
      name = MachOMachine(type: try fields.single(0), subtype: try fields.single(4)).name
      (offset, size) = (try fields.word(8), try fields.word(8 + fields.bits / 8))
    }
  }

  private let file: OpenedFile
  private let slices: [Slice]

  /// More slices than any file has. Compiled Java starts with the same magic, and where the number
  /// of slices would be, with its version, which is 45 or more.
  private static let mostSlices: UInt32 = 40

  static func recognises(_ head: [UInt8]) -> Bool {
    guard
      head.starts(with: [0xca, 0xfe, 0xba, 0xbe]) || head.starts(with: [0xca, 0xfe, 0xba, 0xbf])
    else { return false }
    guard let count: UInt32 = head.span.integer(at: 4, order: .big) else { return true }
    return count <= mostSlices || head[3] == 0xbf
  }

  init(_ file: OpenedFile) throws(ImageError) {
    self.file = file
    // All numbers are big-endian, whatever the slices are.
    let head = file.head
    guard let count: UInt32 = head.span.integer(at: 4, order: .big) else {
      throw file.error(.truncated, "The file ends inside the universal header.")
    }
    guard count > 0, count <= Self.mostSlices else {
      throw file.error(.malformed, "A universal file cannot have \(count) slices.", at: 4)
    }
    let bits = head[3] == 0xbf ? 64 : 32
    let stride = bits == 64 ? 32 : 20
    let table = try file.read(at: 8, count: Int(count) * stride)
    slices = (0..<Int(count)).compactMap { index in
      let fields = MachOFields(
        table, index * stride..<(index + 1) * stride, bits: bits, order: .big)
      return try? Slice(fields)
    }
  }

  func forEachMember(_ body: (Result<OpenedFile, ImageError>) -> Void) {
    // Slices that share bytes would make a small file large, or hold itself.
    var end = UInt64(8)
    let ordered = slices.indices.sorted { slices[$0].offset < slices[$1].offset }
    var overlapping: Set<Int> = []
    for index in ordered {
      if slices[index].offset < end { overlapping.insert(index) }
      end = max(end, slices[index].offset.saturating(adding: slices[index].size))
    }
    for (index, slice) in slices.enumerated() {
      body(
        Result { () throws(ImageError) in
          guard !overlapping.contains(index) else {
            throw malformed(slice, "shares bytes with another")
          }
          let member = try OpenedFile(slice.name, of: file, at: slice.offset, size: slice.size)
          guard MachOFile.recognises(member.head) || Archive.recognises(member.head) else {
            throw malformed(slice, "is neither a Mach-O file nor an archive")
          }
          return member
        })
    }
  }

  private func malformed(_ slice: Slice, _ reason: String) -> ImageError {
    file.error(.malformed, "The slice for \(slice.name) \(reason).", at: slice.offset)
  }
}
