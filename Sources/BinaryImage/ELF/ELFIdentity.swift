internal import CElf

/// What an ELF file is for, and which build it is of.
extension ELFFile {
  /// Whether the header says that it is a core file.
  package var isCore: Bool { header.type == UInt16(ET_CORE) }
  /// A relocatable object, which no loader opens.
  package var isObject: Bool { header.isObject }

  /// Describes the file as far as it can be read; a damaged part is as good as an absent one here.
  package func makeIdentity() -> ImageIdentity {
    ImageIdentity(
      path: file.path, format: .elf, bits: header.bits,
      byteOrder: header.order, machine: machine.name, kind: kind, id: (try? buildID()) ?? [])
  }

  private var kind: ImageIdentity.Kind {
    switch Int32(header.type) {
    case ET_CORE: return .core
    case ET_REL: return hasOnlyDebugInformation ? .debug : .object
    case ET_EXEC: return hasOnlyDebugInformation ? .debug : .executable
    default:
      return hasOnlyDebugInformation ? .debug : isProgram ? .executable : .shared
    }
  }

  /// Whether it is linked to be started.
  var isProgram: Bool {
    let hasInterpreter = (try? segments())?.hasInterpreter == true
    return Self.isProgram(header, hasInterpreter: hasInterpreter) { (try? dynamic())?.value }
  }

  /// Returns whether an ELF header, an interpreter and, if these leave it open, the values of the tags
  /// of the dynamic section are those of a program.
  ///
  /// A static PIE has no interpreter, an old linker's PIE no flag. Libraries that can be run, as
  /// libc.so.6, have an interpreter; `DT_DEBUG` is written into programs alone.
  static func isProgram(
    _ header: ELFHeader, hasInterpreter: Bool, dynamic: () -> ((_ tag: Int64) -> UInt64?)?
  ) -> Bool {
    if header.type == UInt16(ET_EXEC) { return true }
    // Most libraries say here that nothing starts them.
    guard hasInterpreter || header.entry != 0 else { return false }
    guard let value = dynamic() else { return hasInterpreter }
    return (value(Int64(DT_FLAGS_1)) ?? 0) & UInt64(DF_1_PIE) != 0
      || hasInterpreter && value(Int64(DT_DEBUG)) != nil
  }

  /// Whether everything that is loaded was left out of this file, and symbols or DWARF were not.
  package var hasOnlyDebugInformation: Bool {
    guard let table = try? sectionTable() else { return false }
    var hasLoaded = false
    var hasDebug = false
    for index in sectionIndices {
      let section = table[index]
      if section.isLoaded {
        let isEmptied = section.sh_type == UInt32(SHT_NOBITS)
        guard isEmptied || section.sh_type == UInt32(SHT_NOTE) else { return false }
        if isEmptied { hasLoaded = true }
      } else if section.sh_type == UInt32(SHT_SYMTAB) {
        hasDebug = true
      } else {
        hasDebug = hasDebug || table.name(of: index, startsWith: ".debug_")
      }
    }
    return hasLoaded && hasDebug
  }

  /// The build-id where the loader finds it too: the first among the note segments, empty if there is none.
  func loadedBuildID() throws(ImageError) -> [UInt8] {
    for segment in try segments().notes {
      let notes = try notes(in: segment.extent, alignment: segment.p_align, at: segment.p_vaddr)
      if let id = notes.first(where: \.isBuildID) { return Array(id.descriptor) }
    }
    return []
  }

  /// The bytes of the program headers, as the file has them.
  package func programHeaderBytes() throws(ImageError) -> ArraySlice<UInt8> {
    let table = header.segments
    return try file.slice(
      at: table.offset, count: Int(table.count) * header.format.size(of: ELF_T_PHDR))
  }

  /// The descriptor of the first `NT_GNU_BUILD_ID`; empty where there is none.
  package func buildID() throws(ImageError) -> [UInt8] {
    let id = try loadedBuildID()
    if !id.isEmpty { return id }
    // Objects have no segments, and those of split debug information may lead nowhere.
    for index in sectionIndices {
      let section = try sectionHeader(index)
      guard section.sh_type == UInt32(SHT_NOTE) else { continue }
      let notes = try notes(in: section.extent, alignment: section.sh_addralign)
      if let id = notes.first(where: \.isBuildID) { return Array(id.descriptor) }
    }
    return []
  }
}
