internal import CElf

/// What was inflated so far.
struct InflatedSections {
  /// The bytes by the index of the section.
  var bytes: [Int: [UInt8]] = [:]
  /// What all of them claim to need.
  var size: UInt64 = 0
}

/// The bytes of sections, and the texts that pointers lead to.
extension ELFFile {
  /// Lends the bytes of a section, uncompressed, in file byte order, for the call's duration.
  ///
  /// ELF: `elf_getdata`, and `elf_compress` where `SHF_COMPRESSED` is set.
  package func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let bytes = try bytes(of: section)
    return body(bytes.span)
  }

  func bytes(of section: Section) throws(ImageError) -> [UInt8] {
    switch try contents(of: section) {
    case .inflated(let bytes): return bytes
    case .stored(let extent): return try file.bytes(of: section, in: extent)
    }
  }

  /// Lends the text that starts at a pointer's target, without its NUL, for the call's duration.
  package func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    switch target {
    case .address(let address):
      guard let extent = try segments().extent(from: address) else {
        throw file.outsideSegments(address)
      }
      return try texts.withText(file, at: extent.offset, size: extent.size, limit: limit, body)
    case .section(let index, let offset):
      return try withText(in: anySection(index), from: offset, limit: limit, body)
    case .null, .imported, .foreign, .unresolvable:
      throw file.noText(at: target)
    }
  }

  /// The bytes that the file maps at a linked address, in file byte order.
  package func bytes(at address: VirtualAddress, count: Int) throws(ImageError) -> [UInt8] {
    guard let extent = try segments().extent(from: address), extent.size >= UInt64(count) else {
      throw file.outsideSegments(address)
    }
    let (bytes, position) = try mapped.load(file, at: extent.offset, count: count)
    return Array(bytes[position..<position + count])
  }

  private func withText<Result>(
    in section: Section, from offset: UInt64, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let bytes: [UInt8]
    switch try contents(of: section) {
    case .stored(let extent):
      guard offset < extent.size else { throw outOfSection(section, offset) }
      return try texts.withText(
        file, at: extent.offset + offset, size: extent.size - offset, limit: limit, body)
    case .inflated(let inflated): bytes = inflated
    }
    guard offset < UInt64(bytes.count) else { throw outOfSection(section, offset) }
    let start = Int(offset)
    guard let length = bytes.span.textLength(from: start), length <= limit else {
      throw file.unterminated(limit, at: nil)
    }
    return body(bytes.span.extracting(start..<start + length))
  }

  private func outOfSection(_ section: Section, _ offset: UInt64) -> ImageError {
    file.error(
      .outOfImage,
      "0x\(offset.hexadecimal) lies past the end of section \(section.index).",
      section: section.name)
  }

  // MARK: - Where a section's bytes are

  /// A section's bytes: a range of the file, or what was inflated from one.
  enum Contents {
    /// They stand in the file as they are.
    case stored(FileExtent)
    /// They were compressed.
    case inflated([UInt8])
  }

  /// Finds the bytes of a section, and inflates them if they are compressed.
  func contents(of section: Section) throws(ImageError) -> Contents {
    let (stored, isCompressed) = try location(of: section)
    let extent = try file.extent(
      of: section, at: stored.offset, size: stored.size, isSplit: hasOnlyDebugInformation)
    return isCompressed ? .inflated(try inflated(section)) : .stored(extent)
  }

  /// What the header of a section claims, in this part of the file: it decides, not what the caller
  /// made of it.
  func location(
    of section: Section
  ) throws(ImageError) -> (stored: (offset: UInt64?, size: UInt64), isCompressed: Bool) {
    guard hasSectionTable else { return ((file.place(of: section), section.size), false) }
    let entry = try sectionHeader(section.index)
    return (
      (entry.hasContents ? entry.sh_offset : nil, entry.sh_size),
      entry.sh_flags & UInt64(SHF_COMPRESSED) != 0
    )
  }

  private func inflated(_ section: Section) throws(ImageError) -> [UInt8] {
    if let bytes = inflatedSections.bytes[section.index] { return bytes }
    guard let size = inflatedSize(of: try sectionHeader(section.index)),
      size <= OpenedFile.mostContents - inflatedSections.size
    else {
      throw file.error(
        .malformed, "The section is compressed and claims to inflate beyond reason.",
        section: section.name, at: file.place(of: section))
    }
    inflatedSections.size += size
    // libelf rewrites the header of what it inflates, so this is a handle for one use.
    switch try ELFHandle(file).inflate(section.index) {
    case .success(let bytes):
      inflatedSections.bytes[section.index] = bytes
      return bytes
    case .failure(let failure):
      throw file.error(
        .unsupported,
        "The section is compressed\(try method(of: section)), and this libelf says: "
          + "\(failure.message); objcopy --decompress-sections helps.",
        section: section.name, at: file.place(of: section))
    }
  }

  /// ` with zstd`: what `ch_type` stands for, which not every libelf knows.
  private func method(of section: Section) throws(ImageError) -> String {
    let head = try file.read(at: sectionHeader(section.index).sh_offset, count: 4)
    return switch head.span.integer(at: 0, as: UInt32.self, order: header.order) {
    case 1: " with zlib"
    case 2: " with zstd"
    case let number: " by method \(number ?? 0)"
    }
  }

  /// `ch_size`; nil where the section is not compressed, or its header lies outside the file.
  func inflatedSize(of entry: GElf_Shdr) -> UInt64? {
    guard entry.sh_flags & UInt64(SHF_COMPRESSED) != 0, entry.hasContents else {
      return nil
    }
    let size = header.bits == 64 ? 24 : 12
    guard let head = try? file.read(at: entry.sh_offset, count: size) else { return nil }
    return head.span.word(at: header.bits == 64 ? 8 : 4, bits: header.bits, order: header.order)
  }

  /// A section by its index, for a pointer that leads into it.
  private func anySection(_ index: Int) throws(ImageError) -> Section {
    guard sectionIndices.contains(index) else {
      throw file.error(.outOfImage, "The pointer leads into section \(index), which is not there.")
    }
    let entry = try sectionHeader(index)
    return Section(
      index: index, name: "", address: VirtualAddress(rawValue: 0),
      offset: file.offset(entry.sh_offset), size: entry.sh_size)
  }
}

extension GElf_Shdr {
  /// Whether the file holds the bytes of the section.
  var hasContents: Bool { sh_type != UInt32(SHT_NOBITS) && sh_type != UInt32(SHT_NULL) }

  /// The flags as `readelf -S` prints them: `o`, `p` and `x` stand for those without a letter, of the
  /// system, of the processor, and others.
  var flagLetters: String {
    let letters: [(Int, Character)] = [
      (0, "W"), (1, "A"), (2, "X"), (4, "M"), (5, "S"), (6, "I"), (7, "L"), (8, "O"), (9, "G"),
      (10, "T"), (11, "C"), (21, "R"), (31, "E"),
    ]
    let known = letters.reduce(0) { $0 | UInt64(1) << UInt64($1.0) }
    let rest = sh_flags & ~known
    let others: [(UInt64, Character)] = [
      (0x0ff0_0000, "o"), (0xf000_0000, "p"), (~0xfff0_0000, "x"),
    ]
    return String(
      letters.filter { sh_flags >> UInt64($0.0) & 1 != 0 }.map(\.1)
        + others.filter { rest & $0.0 != 0 }.map(\.1))
  }
}
