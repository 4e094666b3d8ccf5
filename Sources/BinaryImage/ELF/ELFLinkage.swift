internal import CElf

/// What a linked file says of itself to others.
package struct ELFLinkage: Hashable, Sendable {
  /// What others link it by: `DT_SONAME`.
  package var name: String?
  /// The libraries that are opened with it: `DT_FILTER`, `DT_NEEDED`.
  package var needed: [String]
  /// The libraries that answer before it where they are there: `DT_AUXILIARY`.
  package var auxiliary: [String]
  /// The version of the note that the header's macros write; nil where the file has none.
  package var noteVersion: Int?
  /// Whether it has a runtime of its own in it, as `libBeeHive.so` has.
  package var carriesRuntime: Bool
  /// Whether it has metadata of Swift's.
  package var hasSwiftSections: Bool
}

extension ELFFile {
  /// Returns what a linked file says of itself to others.
  ///
  /// - Returns: What the dynamic section, the notes and the names of the sections say.
  /// - Throws: ``ImageError`` where one of them cannot be read.
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

  /// The names that the dynamic section gives under a tag, in order; none without a dynamic section.
  func names(_ tag: Int64) throws(ImageError) -> [String] {
    guard let dynamic = try dynamic() else { return [] }
    return try dynamic.values(tag).map { offset throws(ImageError) in
      try name(at: offset, dynamic)
    }
  }

  /// A name that the dynamic section gives.
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

/// The wishes of a linked file for its loading: where to look for its libraries, and whether its code is written to and its
/// stack run.
package struct ELFLoading: Hashable, Sendable {
  /// The folders where those are looked for, as they are written: `DT_RUNPATH`, or `DT_RPATH` where there is none.
  package var searchPaths: [String] = []
  /// Whether the libraries that it opens look there too: `DT_RPATH` alone.
  package var isInherited = false
  /// Whether relocations write into code: `DT_TEXTREL`, `DF_TEXTREL`.
  package var relocatesCode = false
  /// Whether the stack is to be executable; nil where the file does not say: `PT_GNU_STACK`.
  package var runsStack: Bool?
  /// Whether its libraries are looked for on search paths alone, and not where the system keeps them: `DF_1_NODEFLIB`.
  package var avoidsSystem = false
  /// Whether segments are aligned to less than pages, which glibc has admitted since 2.35.
  package var hasSmallAlignment = false
  /// The bytes of memory that it is mapped to, those that no file has among them: `PT_LOAD`.
  package var mappedBytes: UInt64 = 0
  /// The bytes of its thread-local data: `PT_TLS`.
  package var threadBytes: UInt64 = 0

  /// The level of x86-64 that the processor must have: `GNU_PROPERTY_X86_ISA_1_NEEDED`; 0 for any.
  package var processorLevel = 0

  /// Asks for nothing.
  package init() {}
}

extension ELFFile {
  /// Reads the file's wishes for its loading.
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

  /// Returns whether relocations want thread-local data in the room that each thread has from its start, whatever
  /// `DF_STATIC_TLS` says: `R_*_TPOFF`, `R_*_TPREL`. Little of it is left for files that are opened later.
  package func wantsStaticThreads() throws(ImageError) -> Bool {
    try relocationSurvey().types.contains { type in
      relocationNames.name(of: type, machine).split(separator: "_")
        .contains { $0.hasPrefix("TPOFF") || $0.hasPrefix("TPREL") }
    }
  }

  /// The loader that a program names, at most 4096 bytes of it: `PT_INTERP`; nil if it names none.
  package func interpreter() throws(ImageError) -> String? {
    guard let segment = try segments().all.first(where: { $0.isOf(PT_INTERP) }) else {
      return nil
    }
    let bytes = try file.slice(at: segment.p_offset, count: Int(min(segment.p_filesz, 4096)))
    return String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
  }

  /// The properties that files for one process share besides machine, class and byte order: the system whose
  /// conventions they follow, and how functions are called. Nil where any will do.
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
