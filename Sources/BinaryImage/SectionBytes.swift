internal import CElf

/// How much of a section a file has.
package struct StoredBytes: Sendable {
  /// In bytes, uncompressed.
  package var size: UInt64
  /// What is wrong where the header claims more.
  package var shortage: ImageError?
}

/// What stands where a pointer leads, as far as the image's own file says it.
package enum TargetMemory: Sendable {
  /// In a section that is run.
  case code
  /// In bytes of the file.
  case data
  /// In memory of which the file has no bytes: it starts as zeros, or the image ends there.
  case zeros
  /// Nowhere in the image.
  case outside
}

extension OpenedFile {
  /// What the file has of the range that a section's header claims; nil where it claims none.
  package func stored(
    _ section: Section, at offset: UInt64?, size: UInt64, isSplit: @autoclosure () -> Bool
  ) throws(ImageError) -> StoredBytes? {
    do throws(ImageError) {
      return StoredBytes(
        size: try extent(of: section, at: offset, size: size, isSplit: isSplit()).size)
    } catch  where error.code == .noContents && !isSplit() {
      return nil
    } catch  where error.code == .truncated {
      return StoredBytes(size: held(at: offset ?? size, size).size, shortage: error)
    }
  }

  /// The part of a range that the file has.
  package func held(at offset: UInt64, _ extentSize: UInt64) -> FileExtent {
    FileExtent(offset: offset, size: min(extentSize, size - min(size, offset)))
  }

  /// Where in this part of the file a section stands.
  package func place(of section: Section) -> UInt64? { section.offset.map { $0.rawValue &- base } }

  /// Where in the whole file a byte of this part stands.
  package func offset(_ place: UInt64) -> FileOffset { FileOffset(rawValue: base &+ place) }
}

extension ELFFile {
  /// How much of a section the file has, once it is inflated; nil for one without bytes.
  package func stored(of section: Section) throws(ImageError) -> StoredBytes? {
    let (stored, isCompressed) = try location(of: section)
    let found = try file.stored(
      section, at: stored.offset, size: stored.size, isSplit: hasOnlyDebugInformation)
    guard isCompressed, let found, found.shortage == nil else { return found }
    guard case .inflated(let bytes) = try contents(of: section) else { return found }
    return StoredBytes(size: UInt64(bytes.count))
  }

  /// Bytes of a section, from an offset in it on; a compressed one is inflated.
  package func bytes(
    of section: Section, at offset: UInt64, count: Int
  ) throws(ImageError) -> [UInt8] {
    let (stored, isCompressed) = try location(of: section)
    guard !isCompressed else {
      let bytes = try bytes(of: section)
      guard offset <= UInt64(bytes.count), count <= bytes.count - Int(offset) else {
        throw file.error(.outOfImage, "The section has fewer bytes.", section: section.name)
      }
      return Array(bytes[Int(offset)..<Int(offset) + count])
    }
    return try file.read(at: (stored.offset ?? file.size).saturating(adding: offset), count: count)
  }

  /// What stands where a pointer leads.
  package func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory {
    switch target {
    case .address(let address):
      if try codeRanges().contains(address.rawValue) { return .code }
      if try segments().extent(from: address) != nil { return .data }
      if try segments().holds(address) { return .zeros }
      // MIPS rounds the addresses in its global offset table to 64 KiB, up or down.
      guard header.machine == UInt16(EM_MIPS), address.rawValue & 0xffff == 0,
        address.rawValue >= 0x8000
      else { return .outside }
      let nearest = VirtualAddress(rawValue: address.rawValue - 0x8000)
      return try segments().holds(nearest) ? .zeros : .outside
    case .section(let index, _):
      guard sectionIndices.contains(index) else { return .outside }
      let section = try sectionHeader(index)
      if section.isExecutable { return .code }
      return section.type == UInt32(SHT_NOBITS) ? .zeros : .data
    case .null, .imported, .foreign, .unresolvable: return .outside
    }
  }

  /// The offset of the first word of a section, from an offset on, that a relocation is for.
  package func nextRelocated(
    from offset: UInt64, in section: Section
  ) throws(ImageError) -> UInt64? {
    if header.isObject {
      return try relocations(ofObjectSection: section).place(notBefore: offset)
    }
    _ = try linkedRelocation(at: offset, in: section)
    let start = section.address.rawValue
    let next = try relocations.linked?.get().place(notBefore: start.saturating(adding: offset))
    return next.flatMap { $0 - start < section.size ? $0 - start : nil }
  }
}
