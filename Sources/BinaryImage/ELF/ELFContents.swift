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

  /// Lends a text of a section, without its NUL, for the call's duration.
  package func withText<Result>(
    inSection index: Int, from offset: UInt64, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let section = try anySection(index)
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
      (entry.hasContents ? entry.offset : nil, entry.size),
      entry.flags & UInt64(SHF_COMPRESSED) != 0
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
    guard let bytes = try ELFHandle(file).inflate(section.index) else {
      throw file.error(
        .unsupported,
        "The section is compressed\(try method(of: section)), and this libelf says: "
          + "\(ELFHandle.lastMessage); objcopy --decompress-sections helps.",
        section: section.name, at: file.place(of: section))
    }
    inflatedSections.bytes[section.index] = bytes
    return bytes
  }

  /// ` with zstd`: what `ch_type` stands for, which not every libelf knows.
  private func method(of section: Section) throws(ImageError) -> String {
    let head = try file.read(at: sectionHeader(section.index).offset, count: 4)
    return switch head.span.integer(at: 0, as: UInt32.self, order: header.order) {
    case 1: " with zlib"
    case 2: " with zstd"
    case let number: " by method \(number ?? 0)"
    }
  }

  /// `ch_size`; nil where the section is not compressed, or its header lies outside the file.
  func inflatedSize(of entry: ELFSectionHeader) -> UInt64? {
    guard entry.flags & UInt64(SHF_COMPRESSED) != 0, entry.hasContents,
      let head = try? file.read(at: entry.offset, count: header.bits == 64 ? 24 : 12)
    else { return nil }
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
      offset: file.offset(entry.offset), size: entry.size)
  }
}
