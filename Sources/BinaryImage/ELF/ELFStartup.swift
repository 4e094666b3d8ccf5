internal import CElf

/// What runs of a file, or comes along with it, before anybody calls a function of it.
package struct StartupStep: Hashable, Sendable {
  /// When it does, in the order of the loader.
  package enum Kind: String, Sendable {
    /// A library that is opened with the file, and whose own steps come first: `DT_NEEDED`.
    case needed
    /// A library that the loader tells of what it does: `DT_AUDIT`, `DT_DEPAUDIT`.
    case audit
    /// A library that answers in place of the file: `DT_FILTER`, `DT_AUXILIARY`.
    case filter
    /// Memory that every thread gets: `PT_TLS`.
    case threadLocal = "tls"
    /// A function that chooses an address while the file is relocated, or at the first call where that is lazy.
    case resolver = "ifunc"
    /// The same, for images that bind to the symbol.
    case exportedResolver = "ifunc-symbol"
    /// `DT_PREINIT_ARRAY`, of executables.
    case preinit = "preinit-array"
    /// `DT_INIT`.
    case initialiser = "init"
    /// `DT_INIT_ARRAY`.
    case initArray = "init-array"
    /// `DT_FINI_ARRAY`, when the file is closed; the last one first.
    case finiArray = "fini-array"
    /// `DT_FINI`.
    case finaliser = "fini"
  }

  /// When it runs.
  package var kind: Kind
  /// Its place in an array.
  package var index: Int?
  /// The function; nil for what is none, or where the note says why it is not known.
  package var address: UInt64?
  /// The function's symbol, or the library; nil where the file has no symbol for it.
  package var name: String?
  /// More about it.
  package var note: String?
}

extension ELFFile {
  /// What the loader runs of the file, in its order: first what comes along, then what opening it runs, then what
  /// closing it runs; and why some of it is not known.
  ///
  /// The dynamic section is believed, as the loader does; a static executable has section headers alone.
  package func startup() throws(ImageError) -> (steps: [StartupStep], problems: [ImageError]) {
    guard !header.isObject else {
      throw file.error(
        .noEntries, "It is not linked: what it is linked into decides what runs, and when.")
    }
    guard header.type != UInt16(ET_CORE), !hasOnlyDebugInformation else {
      throw file.error(.noEntries, "No loader opens it: it is a \(identity.kind.rawValue) file.")
    }
    let places = try startupPlaces()
    var (steps, problems): ([StartupStep], [ImageError]) = ([], [])
    func add(_ read: () throws(ImageError) -> [StartupStep]) {
      do throws(ImageError) { steps += try read() } catch { problems.append(error) }
    }
    add { () throws(ImageError) in try companions() }
    add { () throws(ImageError) in try threadLocals() }
    add { () throws(ImageError) in try resolvers(places.relocations) }
    for (kind, place) in places.inOrder {
      switch place {
      case .function(let address): steps.append(StartupStep(kind: kind, address: address))
      case .array(let array): add { () throws(ImageError) in try self.steps(kind, array) }
      }
    }
    do throws(ImageError) { try name(&steps) } catch { problems.append(error) }
    return (steps, problems)
  }

  // MARK: - Where it is

  private enum StartupPlace {
    case function(UInt64)
    case array(Section)
  }

  private typealias StartupPlaces = (
    inOrder: [(kind: StartupStep.Kind, place: StartupPlace)], relocations: [ELFRelocationTable]
  )

  /// More bytes than any array of functions has.
  private static let mostStartup: UInt64 = 1 << 20

  private func startupPlaces() throws(ImageError) -> StartupPlaces {
    var places: StartupPlaces = ([], [])
    guard let dynamic = try dynamic.get() else { return try startupSections() }
    places.relocations = dynamic.relocations
    func add(_ kind: StartupStep.Kind, _ tag: Int32, _ size: Int32? = nil) throws(ImageError) {
      guard let start = dynamic.value(Int64(tag)), start != 0 else { return }
      guard let size else { return places.inOrder.append((kind, .function(start))) }
      let bytes = dynamic.value(Int64(size)) ?? 0
      if bytes > 0 { places.inOrder.append((kind, .array(try array(kind, start, bytes)))) }
    }
    if header.type == UInt16(ET_EXEC) || segmentsNameInterpreter {
      try add(.preinit, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ)
    }
    try add(.initialiser, DT_INIT)
    try add(.initArray, DT_INIT_ARRAY, DT_INIT_ARRAYSZ)
    try add(.finiArray, DT_FINI_ARRAY, DT_FINI_ARRAYSZ)
    try add(.finaliser, DT_FINI)
    return places
  }

  private var segmentsNameInterpreter: Bool { (try? segments.get().hasInterpreter) ?? false }

  private func array(
    _ kind: StartupStep.Kind, _ start: UInt64, _ size: UInt64
  ) throws(ImageError) -> Section {
    try file.check(
      size <= Self.mostStartup, .malformed, "The \(kind.rawValue) claims \(size) bytes.")
    return Section(
      index: 0, name: kind.rawValue, address: VirtualAddress(rawValue: start), offset: nil,
      size: size)
  }

  /// The same of a file without a dynamic section.
  private func startupSections() throws(ImageError) -> StartupPlaces {
    let kinds: [(type: Int32, kind: StartupStep.Kind)] = [
      (SHT_PREINIT_ARRAY, .preinit), (SHT_INIT_ARRAY, .initArray), (SHT_FINI_ARRAY, .finiArray),
    ]
    var found: [StartupStep.Kind: StartupPlace] = [:]
    var places: StartupPlaces = ([], [])
    let table = try sectionTable()
    for index in sectionIndices {
      let entry = try sectionHeader(index)
      guard entry.isLoaded, entry.size > 0 else { continue }
      if let kind = kinds.first(where: { $0.type == Int32(bitPattern: entry.type) })?.kind {
        found[kind] = .array(try array(kind, entry.address, entry.size))
      }
      let kind: StartupStep.Kind? =
        switch table.name(of: index) {
        case ".init": .initialiser
        case ".fini": .finaliser
        default: nil
        }
      if let kind, entry.isExecutable { found[kind] = .function(entry.address) }
      switch Int32(bitPattern: entry.type) {
      case SHT_RELA:
        places.relocations.append(ELFRelocationTable(encoding: .rela, extent: entry.extent))
      case SHT_REL:
        places.relocations.append(ELFRelocationTable(encoding: .rel, extent: entry.extent))
      default: break
      }
    }
    let order: [StartupStep.Kind] = [.preinit, .initialiser, .initArray, .finiArray, .finaliser]
    places.inOrder = order.compactMap { kind in found[kind].map { (kind, $0) } }
    return places
  }

  // MARK: - What it leads to

  private func threadLocals() throws(ImageError) -> [StartupStep] {
    try ELFSegment.all(of: file, header).filter { $0.type == UInt32(PT_TLS) }.map {
      StartupStep(
        kind: .threadLocal, note: "\($0.memorySize) bytes, of which \($0.fileSize) have values")
    }
  }

  private func companions() throws(ImageError) -> [StartupStep] {
    let tags: [(StartupStep.Kind, Int64)] = [
      (.audit, Int64(DT_AUDIT)), (.audit, Int64(DT_DEPAUDIT)), (.filter, Int64(DT_FILTER)),
      (.filter, Int64(DT_AUXILIARY)), (.needed, Int64(DT_NEEDED)),
    ]
    var steps: [StartupStep] = []
    for (kind, tag) in tags {
      steps += try names(tag).map { StartupStep(kind: kind, name: $0) }
    }
    return steps
  }

  private func steps(
    _ kind: StartupStep.Kind, _ array: Section
  ) throws(ImageError) -> [StartupStep] {
    var steps: [StartupStep] = []
    let word = UInt64(header.wordSize)
    for offset in stride(from: 0, to: array.size - array.size % word, by: Int(word)) {
      let pointer = try pointer(at: offset, ofArray: array)
      var step = StartupStep(kind: kind, index: Int(offset / word), name: pointer.symbol)
      switch pointer.target {
      case .address(let address): step.address = address.rawValue
      case .null: step.note = "it is null"
      case .imported(let symbol, let addend):
        step.name = PointerValue.name(ofImport: symbol, addend: addend)
        step.note = "another image defines it"
      case .unresolvable(let reason): step.note = reason
      case .section, .foreign: step.note = "it leads to no address of a linked file"
      }
      steps.append(step)
    }
    return kind == .finiArray ? steps.reversed() : steps
  }

  /// The functions of the file that choose addresses, each once: those of its relocations, and those that others
  /// may bind to.
  private func resolvers(_ tables: [ELFRelocationTable]) throws(ImageError) -> [StartupStep] {
    // Bitmaps hold addresses of the image alone.
    let found = try ELFRelocations(
      of: file, header, machine, in: tables.filter { $0.encoding != .relr },
      ranges: AddressRanges([]),
      resolvers: ELFRelocations.Resolvers(type: machine.relocationTypes?.chosen)
    ).resolvers
    guard let found else { return [] }
    try file.check(
      found.addends.count + found.places.count <= ELFRelocations.Resolvers.most, .malformed,
      "It claims more than \(ELFRelocations.Resolvers.most) functions that choose addresses.")
    var steps: [StartupStep] = []
    var known: Set<UInt64> = []
    func add(_ kind: StartupStep.Kind, _ address: UInt64, _ name: String?) {
      guard known.insert(address).inserted else { return }
      steps.append(StartupStep(kind: kind, address: address, name: name))
    }
    var addresses = found.addends
    for place in found.places {
      let bytes = try bytes(at: VirtualAddress(rawValue: place), count: header.wordSize)
      addresses.insert(header.order.number(of: bytes[...]))
    }
    for address in addresses.sorted() { add(.resolver, address, nil) }
    guard let symbols = try dynamic.get()?.symbols else { return steps }
    for number in found.symbols.sorted() {
      let symbol = try symbols.symbol(number)
      if symbol.isResolver { add(.resolver, symbol.value, symbol.name) }
    }
    for number in 0..<(try dynamicSymbolCount()) {
      let symbol = try symbols.symbol(number)
      if symbol.isResolver { add(.exportedResolver, symbol.value, symbol.name) }
    }
    return steps
  }

  // MARK: - Names

  /// More symbols than any file has.
  private static let mostSymbols: UInt64 = 1 << 22

  private func checkedCount(_ count: UInt64) throws(ImageError) -> UInt32 {
    try file.check(count <= Self.mostSymbols, .malformed, "It claims \(count) symbols.")
    return UInt32(count)
  }

  /// How many symbols the loader finds: what its hash tables reach.
  private func dynamicSymbolCount() throws(ImageError) -> UInt32 {
    guard let dynamic = try dynamic.get() else { return 0 }
    func number(_ address: UInt64, _ index: UInt64) throws(ImageError) -> UInt32 {
      let place = VirtualAddress(rawValue: address &+ 4 &* index)
      return UInt32(header.order.number(of: try bytes(at: place, count: 4)[...]))
    }
    if let hash = dynamic.value(Int64(DT_HASH)), header.machine != UInt16(EM_ALPHA) {
      return try checkedCount(UInt64(number(hash, 1)))
    }
    guard let hash = dynamic.value(Int64(DT_GNU_HASH)) else { return 0 }
    let (buckets, first) = (UInt64(try number(hash, 0)), UInt64(try number(hash, 1)))
    let start = 4 + UInt64(try number(hash, 2)) * UInt64(header.wordSize / 4)
    _ = try checkedCount(max(buckets, first))
    var last: UInt64 = 0
    for bucket in 0..<buckets { last = max(last, UInt64(try number(hash, start + bucket))) }
    guard last >= first else { return UInt32(first) }
    // The last one of a bucket has the lowest bit set.
    while try number(hash, start + buckets + (last - first)) & 1 == 0 {
      last = UInt64(try checkedCount(last + 1))
    }
    return try checkedCount(last + 1)
  }

  /// Gives the steps the symbols of their functions, where the file has any.
  private func name(_ steps: inout [StartupStep]) throws(ImageError) {
    var names: [UInt64: String] = [:]
    let wanted = Set(steps.compactMap { $0.name == nil ? $0.address : nil })
    defer {
      for index in steps.indices where steps[index].name == nil {
        steps[index].name = steps[index].address.flatMap { names[$0] }
      }
    }
    func look(in symbols: ELFSymbols, upTo count: UInt32) throws(ImageError) {
      for number in 0..<count where names.count < wanted.count {
        let symbol = try symbols.symbol(number)
        guard symbol.isFunction, wanted.contains(symbol.value), !symbol.name.isEmpty else {
          continue
        }
        if names[symbol.value] == nil { names[symbol.value] = symbol.name }
      }
    }
    for index in wanted.isEmpty ? 1..<1 : sectionIndices {
      let entry = try sectionHeader(index)
      guard entry.type == UInt32(SHT_SYMTAB) else { continue }
      let table = ELFSymbols(
        of: file, header, entries: entry.extent, names: try sectionHeader(entry.link).extent)
      try look(in: table, upTo: checkedCount(UInt64(table.count)))
    }
    if let symbols = try dynamic.get()?.symbols {
      try look(in: symbols, upTo: dynamicSymbolCount())
    }
  }
}

extension Symbol {
  /// Whether it is a function of this file that chooses what its name means: `STT_GNU_IFUNC`.
  fileprivate var isResolver: Bool { type == UInt8(STT_GNU_IFUNC) && isDefined }
  /// Whether it is a function of this file.
  fileprivate var isFunction: Bool {
    isResolver || ((type == UInt8(STT_FUNC) || type == UInt8(STT_NOTYPE)) && isDefined)
  }

  private var isDefined: Bool { if case .section = place { true } else { false } }
}
