internal import CElf

/// The names and properties that a linked file declares to others.
package struct ELFLinkage: Hashable, Sendable {
  /// The name that others link it by: `DT_SONAME`.
  package var name: String?
  /// The libraries that are opened with it: `DT_FILTER`, `DT_NEEDED`.
  package var needed: [String]
  /// The libraries that answer before it, if they are there: `DT_AUXILIARY`.
  package var auxiliary: [String]
  /// The version of the note that the header's macros write; nil if the file has none.
  package var noteVersion: Int?
  /// Whether it contains a runtime of its own, as `libBeeHive.so` does.
  package var carriesRuntime: Bool
  /// Whether it has Swift metadata.
  package var hasSwiftSections: Bool
}

extension ELFFile {
  /// Reads the names and properties that a linked file declares to others.
  ///
  /// - Returns: The contents of the dynamic section and the notes, and what the section names say.
  /// - Throws: ``ImageError`` if one of them cannot be read.
  package func linkage() throws(ImageError) -> ELFLinkage {
    let notes = try loadedNotes().filter { $0.owner == .beehive }
    let version = notes.first { $0.type == SectionNote.type }
      .flatMap { SectionNote.version(of: $0.descriptor.span, header.order) }
    let hasSwift = hasSectionTable ? try sectionTable().holds(namesStartingWith: "swift5_") : false
    return ELFLinkage(
      name: try names(Int64(DT_SONAME)).last,
      needed: try names(Int64(DT_FILTER)) + names(Int64(DT_NEEDED)),
      auxiliary: try names(Int64(DT_AUXILIARY)),
      noteVersion: version.map { Int($0) },
      carriesRuntime: notes.contains { $0.type == Self.runtimeNote }, hasSwiftSections: hasSwift)
  }

  /// The type of the note of an image that has the runtime in it.
  private static let runtimeNote: UInt32 = 0x4245_4502

  /// Returns the names that the dynamic section gives under a tag, in order; empty without a dynamic section.
  func names(_ tag: Int64) throws(ImageError) -> [String] {
    guard let dynamic = try dynamic() else { return [] }
    return try dynamic.values(tag).map { offset throws(ImageError) in
      try name(at: offset, dynamic)
    }
  }

  /// Returns a name that the dynamic section gives.
  func name(at offset: UInt64, _ dynamic: ELFDynamic) throws(ImageError) -> String {
    guard let symbols = dynamic.symbols else {
      throw file.error(
        .malformed, "It names libraries or paths, and the table of names is not there (DT_STRTAB).")
    }
    do throws(ImageError) { return try symbols.text(at: offset) } catch {
      guard error.code == .malformed else { throw error }
      throw file.error(
        .malformed,
        "The dynamic section names a library or a path \(offset.hexadecimal) bytes into the names, which end "
          + "before (DT_STRSZ).")
    }
  }
}

/// The requests of a linked file for its loading: the folders to search for its libraries, and whether its code is
/// written to and its stack is executable.
package struct ELFLoading: Hashable, Sendable {
  /// The folders to search for its libraries, as they are written: `DT_RUNPATH`, or else `DT_RPATH`.
  package var searchPaths: [String] = []
  /// Whether the libraries that it opens search these folders too: only with `DT_RPATH`.
  package var isInherited = false
  /// Whether relocations write into code: `DT_TEXTREL`, `DF_TEXTREL`.
  package var relocatesCode = false
  /// Whether the stack is to be executable; nil if the file does not say: `PT_GNU_STACK`.
  package var runsStack: Bool?
  /// Whether the loader searches only these folders for its libraries, and not the system's: `DF_1_NODEFLIB`.
  package var avoidsSystem = false
  /// Whether segments are aligned to less than pages, which glibc has admitted since 2.35.
  package var hasSmallAlignment = false
  /// The bytes of memory that it is mapped to, also those that the file does not store: `PT_LOAD`.
  package var mappedBytes: UInt64 = 0
  /// The bytes of its thread-local data: `PT_TLS`.
  package var threadBytes: UInt64 = 0

  /// The level of x86-64 that the processor must have: `GNU_PROPERTY_X86_ISA_1_NEEDED`; 0 for any.
  package var processorLevel = 0

  /// Requests nothing.
  package init() {}
}

extension ELFFile {
  /// Reads the file's requests for its loading.
  package func loading() throws(ImageError) -> ELFLoading {
    var loading = ELFLoading()
    guard !header.isObject, let dynamic = try dynamic() else { return loading }
    loading.avoidsSystem = dynamic.flags & UInt64(DF_1_NODEFLIB) != 0
    let ownPath = try names(Int64(DT_RUNPATH)).last
    loading.isInherited = ownPath == nil
    let path = try names(Int64(DT_RPATH)).last
    if let path = ownPath ?? path {
      // The loader heeds no path that is empty as a whole.
      loading.searchPaths =
        path.isEmpty
        ? []
        : path.parts(at: UInt8(ascii: ":"), keepingEmpty: true)
    }
    loading.relocatesCode = dynamic.relocatesCode
    loading.mappedBytes = try segments().loads.reduce(0) { $0.saturating(adding: $1.p_memsz) }
    for segment in try segments().all {
      switch segment.p_type {
      case UInt32(PT_LOAD) where segment.p_align % 4096 != 0: loading.hasSmallAlignment = true
      case UInt32(PT_GNU_STACK): loading.runsStack = segment.isExecutable
      case UInt32(PT_TLS): loading.threadBytes = segment.p_memsz
      case UInt32(PT_GNU_PROPERTY) where header.machine == UInt16(EM_X86_64):
        loading.processorLevel = (try? processorLevel(in: segment)) ?? 0
      default: break
      }
    }
    return loading
  }

  /// Returns whether relocations want thread-local data in the static room of each thread, whatever `DF_STATIC_TLS`
  /// says: `R_*_TPOFF`, `R_*_TPREL`. Little of that room is left for files that are opened later.
  package func wantsStaticThreads() throws(ImageError) -> Bool {
    try relocationSurvey().types.contains { type in
      relocationNames.name(of: type, machine).split(separator: "_")
        .contains { $0.hasPrefix("TPOFF") || $0.hasPrefix("TPREL") }
    }
  }

  /// Returns the loader that a program names, at most 4096 bytes of it: `PT_INTERP`; nil if it names none.
  package func interpreter() throws(ImageError) -> String? {
    guard let segment = try segments().all.first(where: { $0.isOf(PT_INTERP) }) else {
      return nil
    }
    let bytes = try file.slice(at: segment.p_offset, count: Int(min(segment.p_filesz, 4096)))
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The further properties that all files of one process share: the system whose conventions they follow, and how
  /// functions are called. `calls` is nil if any convention will do.
  package var abi: (system: UInt8, calls: UInt32?) {
    // GNU's extensions are those of System V too.
    let system = header.system
    let mask: UInt32 =
      switch Int32(header.machine) {
      // EABI version, and hard or soft float.
      case EM_ARM: 0xff00_0600
      // Float ABI, and the reduced register set.
      case EM_RISCV: 0xe
      // ELFv1 or ELFv2.
      case EM_PPC64: 0x3
      // ABI2, o32, n64, …
      case EM_MIPS: 0xf020
      default: 0
      }
    return (system == UInt8(ELFOSABI_LINUX) ? 0 : system, mask == 0 ? nil : header.flags & mask)
  }
}
