internal import CElf

/// The reasons that `dlopen` refuses a file, or ends the whole process with it, whatever else is there.
///
/// They follow glibc's loader, with the smallest size of pages.
extension ELFFile {
  fileprivate static let pageSize: UInt64 = 4096
  /// Half of the addresses that x86-64 has for a process, and more memory than any process has.
  private static let mostAddresses: UInt64 = 1 << 46
  /// More thread-local data than any library has: the loader ends the process if it gets no room.
  private static let mostOfThread: UInt64 = 1 << 32

  /// Returns the first obstacle for the loader; nil if there is none.
  package func obstacle() throws(ImageError) -> String? {
    if let obstacle = try mappingObstacle() { return obstacle }
    guard let dynamic = try dynamic() else { return nil }
    if let obstacle = try segmentObstacle(dynamic) { return obstacle }
    if let obstacle = try dynamicObstacle(dynamic) { return obstacle }
    if let obstacle = try relocationObstacle() { return obstacle }
    return try startupObstacle()
  }

  /// Returns the reason that the loader does not map the file at all; nil if it does. The loader then does without a
  /// file of `DT_AUXILIARY`.
  package func mappingObstacle() throws(ImageError) -> String? {
    if let obstacle = headObstacle { return obstacle }
    if header.type == UInt16(ET_EXEC) {
      return "it is a program that is linked to one address (ET_EXEC)"
    }
    guard !header.isObject, let dynamic = try dynamic() else {
      return "it is not linked dynamically (no PT_DYNAMIC)"
    }
    guard try !segments().hasEmptyDynamic else {
      return "one of its dynamic sections is empty, as in a file of debug information (PT_DYNAMIC)"
    }
    guard try segments().loads.allSatisfy({ ($0.p_vaddr &- $0.p_offset) % Self.pageSize == 0 })
    else { return "its segments do not begin on pages (-z max-page-size)" }
    if dynamic.flags & UInt64(DF_1_PIE) != 0 {
      return "it is a position-independent executable (DF_1_PIE)"
    }
    return dynamic.flags & UInt64(DF_1_NOOPEN) != 0
      ? "it was linked with -z nodlopen (DF_1_NOOPEN)" : nil
  }

  /// The obstacle in the ELF header; no linker writes it.
  private var headObstacle: String? {
    guard [ET_DYN, ET_EXEC].contains(Int32(header.type)) else {
      return "its type is \(header.type), neither ET_DYN nor ET_EXEC"
    }
    guard header.isUsual else {
      return "its version of ELF is not 1, or bytes 9 to 15 of it are not 0"
    }
    // With GNU's own number, the version says what a loader must support. MIPS has numbers of its own.
    let isMIPS = header.machine == UInt16(EM_MIPS)
    let most = isMIPS ? 5 : header.system == UInt8(ELFOSABI_LINUX) ? 3 : 0
    return header.systemVersion > most
      ? "its ABI has version \(header.systemVersion), where at most \(most) is known" : nil
  }

  /// Returns the obstacle in the program headers.
  private func segmentObstacle(_ dynamic: ELFDynamic) throws(ImageError) -> String? {
    let loads = try segments().loads
    let read = [DT_STRTAB, DT_SYMTAB].compactMap { dynamic.value(Int64($0)) }
    var end: UInt64?
    for (position, load) in loads.enumerated() {
      let place = load.p_vaddr.hexadecimal
      guard load.p_filesz <= load.p_memsz else {
        return "the segment at \(place) has more bytes in the file than in memory"
      }
      // Processors allow reading of writable memory, and mostly of executable memory.
      let holdsTables = (read + [dynamic.addresses.lowerBound]).contains { load.holds($0) }
      guard load.isReadable || load.isWritable || load.isExecutable && !holdsTables else {
        return "the segment at \(place) may not be read (PF_R)"
      }
      // A later mapping would cover an earlier one, by whole pages.
      let covers = end.map { load.p_vaddr / Self.pageSize < $0 } ?? false
      guard !covers || load.repeatsPage(of: loads[position - 1]) else {
        return "the segment at \(place) shares pages with the one before, or is in disorder"
      }
      let top = load.p_vaddr.saturating(adding: load.p_memsz)
      end = top.saturating(adding: 4095) / Self.pageSize
      let isHuge = load.p_align.nonzeroBitCount == 1 && load.p_align > Self.mostAddresses
      guard !isHuge, top - loads[0].p_vaddr <= Self.mostAddresses else {
        return "its segments take more addresses than a process has"
      }
    }
    if let threads = try segments().all.last(where: { $0.isOf(PT_TLS) }),
      threads.p_filesz > threads.p_memsz
        || max(threads.p_memsz, threads.p_align) > Self.mostOfThread
    {
      return
        "each thread would have \(threads.p_memsz) bytes of it, aligned to \(threads.p_align), with \(threads.p_filesz) from the file (PT_TLS)"
    }
    if let threads = try segments().all.last(where: { $0.isOf(PT_TLS) }), threads.p_filesz > 0,
      !loads.contains(where: { $0.holds(threads.p_vaddr) })
    {
      return
        "its thread-local data is at \(threads.p_vaddr.hexadecimal), where nothing is mapped (PT_TLS)"
    }
    if let table = try segments().all.last(where: { $0.isOf(PT_PHDR) }),
      !loads.contains(where: { $0.holds(table.p_vaddr) })
    {
      return
        "its program headers are at \(table.p_vaddr.hexadecimal), where nothing is mapped (PT_PHDR)"
    }
    // The last one counts for the loader.
    guard let kept = try segments().all.last(where: { $0.isOf(PT_GNU_RELRO) }) else { return nil }
    let first = kept.p_vaddr / Self.pageSize
    let last = (kept.p_vaddr &+ kept.p_memsz) / Self.pageSize
    let isHeld = loads.contains { load in
      let top = load.p_vaddr.saturating(adding: load.p_memsz).saturating(adding: 4095)
      return load.p_vaddr / Self.pageSize <= first && first <= last && last <= top / Self.pageSize
    }
    return first == last || isHeld
      ? nil : "what becomes read-only after relocation is not in one segment (PT_GNU_RELRO)"
  }

  // MARK: - The dynamic section

  /// Tags, and the partners that they need: without its partner, a tag leads the loader to a null pointer.
  private static let partners: [(tag: Int32, name: String, needed: Int32, neededName: String)] = [
    (DT_RELA, "DT_RELA", DT_RELASZ, "DT_RELASZ"), (DT_RELA, "DT_RELA", DT_RELAENT, "DT_RELAENT"),
    (DT_REL, "DT_REL", DT_RELSZ, "DT_RELSZ"), (DT_REL, "DT_REL", DT_RELENT, "DT_RELENT"),
    (DT_RELR, "DT_RELR", DT_RELRSZ, "DT_RELRSZ"), (DT_RELR, "DT_RELR", DT_RELRENT, "DT_RELRENT"),
    (DT_PLTREL, "DT_PLTREL", DT_JMPREL, "DT_JMPREL"),
    (DT_PLTREL, "DT_PLTREL", DT_PLTRELSZ, "DT_PLTRELSZ"),
    (DT_INIT_ARRAY, "DT_INIT_ARRAY", DT_INIT_ARRAYSZ, "DT_INIT_ARRAYSZ"),
    (DT_FINI_ARRAY, "DT_FINI_ARRAY", DT_FINI_ARRAYSZ, "DT_FINI_ARRAYSZ"),
    (DT_VERNEED, "DT_VERNEED", DT_VERSYM, "DT_VERSYM"),
    (DT_VERDEF, "DT_VERDEF", DT_VERSYM, "DT_VERSYM"),
  ]

  private func dynamicObstacle(_ dynamic: ELFDynamic) throws(ImageError) -> String? {
    func has(_ tag: Int32) -> Bool { dynamic.value(Int64(tag)) != nil }
    if dynamic.isPackedForAndroid {
      return "its relocations are packed for Android (DT_ANDROID_REL, DT_ANDROID_RELR)"
    }
    if !has(DT_STRTAB) || !has(DT_SYMTAB) {
      return "its dynamic section does not say where its symbols are"
    }
    let onlyRela = machine.hasExplicitAddends
    for (tag, name, needed, neededName) in Self.partners
    where has(tag) && !has(needed) && !(tag == DT_REL && onlyRela) {
      return "its dynamic section has \(name) without \(neededName)"
    }
    if has(DT_VERSYM), !has(DT_VERNEED), !has(DT_VERDEF) {
      return "its dynamic section has DT_VERSYM without DT_VERNEED or DT_VERDEF"
    }
    let entry = UInt64(header.format.size(of: ELF_T_RELA))
    for (table, tag, name, usual) in [
      (DT_RELA, DT_RELAENT, "DT_RELAENT", entry),
      (DT_RELR, DT_RELRENT, "DT_RELRENT", UInt64(header.wordSize)),
    ] where has(table) {
      if let size = dynamic.value(Int64(tag)), size != usual {
        return "its relocations are \(size) bytes each, not \(usual) (\(name))"
      }
    }
    if let size = dynamic.value(Int64(DT_PLTRELSZ)), onlyRela, size % entry != 0 {
      return
        "its calls of other libraries have \(size) bytes of relocations of \(entry) each (DT_PLTRELSZ)"
    }
    if let kind = dynamic.value(Int64(DT_PLTREL)), kind != UInt64(DT_RELA),
      onlyRela || kind != UInt64(DT_REL)
    {
      return
        "its calls of other libraries have relocations of kind \(kind), not \(DT_RELA) (DT_PLTREL)"
    }
    let versions = try ELFSymbolVersions(of: self)
    if has(DT_RELR), versions.lackPackedRelocations {
      return "it has packed relocations (DT_RELR) and does not need GLIBC_ABI_DT_RELR"
    }
    if let name = versions.misnamed {
      return "the version \(name) that it needs has the hash of another name (DT_VERNEED)"
    }
    return versions.unknownFormat.map {
      "the versions that it needs are written in form \($0), not 1 (DT_VERNEED)"
    }
  }

  // MARK: - What is done with it

  private func relocationObstacle() throws(ImageError) -> String? {
    let survey = try relocationSurvey()
    if let place = survey.forbiddenPlace {
      let reason = try dynamic()?.relocatesCode == true ? "" : ", and DT_TEXTREL does not say so"
      return "a relocation writes to \(place.hexadecimal), which may not be written to\(reason)"
    }
    let loads = try segments().loads
    if let address = survey.addends.filter({ address in !loads.contains { $0.runs(address) } })
      .min(), !callsDescriptors
    {
      return "a relocation has the loader call \(address.hexadecimal), where no code is (IRELATIVE)"
    }
    if try !relativesAreCounted() {
      return "it counts relocations as relative that are not (DT_RELACOUNT)"
    }
    return survey.types.filter { !machine.isKnownToLoader($0) }.min().map {
      "the loader knows no relocation like \(relocationNames.name(of: $0, machine))"
    }
  }

  /// Returns whether as many relocations are relative as `DT_RELACOUNT` says; the loader does not look at their types.
  private func relativesAreCounted() throws(ImageError) -> Bool {
    guard let dynamic = try dynamic(), let count = dynamic.value(Int64(DT_RELACOUNT)),
      let start = dynamic.value(Int64(DT_RELA)), let types = machine.relocationTypes
    else { return true }
    let entry = UInt64(header.format.size(of: ELF_T_RELA))
    guard count <= (dynamic.value(Int64(DT_RELASZ)) ?? 0) / entry else { return false }
    guard
      let extent = try segments().extent(from: VirtualAddress(rawValue: start), size: count * entry)
    else { return false }
    let rows = ELFTable(.rela, .stored(extent), of: file, header.format)
    for index in 0..<rows.count {
      let type = machine.split(try rows.row(index).r_info).type
      guard types.relative.contains(type) else { return false }
    }
    return true
  }

  /// Whether the address of a function is that of its descriptor, which is data: the first ABI of 64-bit PowerPC.
  private var callsDescriptors: Bool {
    header.machine == UInt16(EM_PPC64) && header.flags & 3 < 2
  }

  /// Returns the obstacle in startup slots: the loader calls each slot, even if it leads to no function.
  private func startupObstacle() throws(ImageError) -> String? {
    for step in try initialisers() {
      let title = step.kind.rawValue + (step.index.map { "[\($0)]" } ?? "")
      if step.isNumber {
        return "the loader would call its \(title), and that is no function"
      }
      if let address = step.address, !callsDescriptors,
        try !segments().loads.contains(where: { $0.runs(address) })
      {
        return "its \(title) leads to \(address.hexadecimal), where no code is"
      }
    }
    return nil
  }
}

extension GElf_Phdr {
  /// Returns whether its first page is the last page of an earlier segment, and both have it from one page of the file.
  /// Code of that segment must stay code.
  fileprivate func repeatsPage(of last: GElf_Phdr) -> Bool {
    let lastPage = (last.p_vaddr.saturating(adding: last.p_filesz) &- 1) / ELFFile.pageSize
    return last.p_filesz == last.p_memsz && p_vaddr / ELFFile.pageSize == lastPage
      && p_vaddr &- p_offset == last.p_vaddr &- last.p_offset
      && (isExecutable || !last.isExecutable)
  }

  /// Returns whether code of the file may be run at an address.
  fileprivate func runs(_ place: UInt64) -> Bool {
    isExecutable && place >= p_vaddr && place - p_vaddr < p_filesz
  }
}
