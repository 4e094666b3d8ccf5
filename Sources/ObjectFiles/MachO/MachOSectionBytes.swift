package import BinaryImage

extension MachOFile {
  /// Whether this has the debug information alone that was split from another file.
  var hasOnlyDebugInformation: Bool { identity.kind == .debug }

  /// How much of a section the file has; nil for one without bytes.
  package func stored(of section: Section) throws(ImageError) -> StoredBytes? {
    try file.stored(
      section, at: file.place(of: section), size: section.size,
      isSplit: hasOnlyDebugInformation)
  }

  /// Bytes of a section, from an offset in it on.
  package func bytes(
    of section: Section, at offset: UInt64, count: Int
  ) throws(ImageError) -> [UInt8] {
    let start = (file.place(of: section) ?? file.size).saturating(adding: offset)
    try checkReadable(start, UInt64(max(0, count)))
    return try file.read(at: start, count: count)
  }

  /// What stands where a pointer leads.
  package func memory(at target: PointerValue.Target) throws(ImageError) -> TargetMemory {
    switch target {
    case .address(let address):
      if try codeRanges().contains(address.rawValue) { return .code }
      if try segments().extent(from: address) != nil { return .data }
      return try segments().holds(address) ? .zeros : .outside
    case .section(let ordinal, _):
      let entry = try sectionEntry(ordinal)
      return entry.holdsCode ? .code : entry.offset == nil ? .zeros : .data
    case .null, .imported, .foreign, .unresolvable: return .outside
    }
  }
}

extension MachOFile {
  /// Which bytes of which file the image is.
  package var part: FilePart { file.part }
}
