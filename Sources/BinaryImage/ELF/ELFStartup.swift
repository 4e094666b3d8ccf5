internal import CElf

extension ELFFile {
  /// Returns the steps that the loader runs of the file, in order: first libraries that come along, then opening, then
  /// closing. The problems say why some steps are not known.
  ///
  /// Trusts the dynamic section, as the loader does; a static executable has only section headers.
  package func startup() throws(ImageError) -> (steps: [StartupStep], problems: [ImageError]) {
    try checkStarts()
    try file.check(
      !segments().hasEmptyDynamic, .noEntries,
      "No loader opens it: its dynamic section is empty (PT_DYNAMIC).")
    let sections = Result { () throws(ImageError) in try startupSections() }
    let places = if let places = try startupPlaces() { places } else { try sections.get() }
    // Without readable section headers, no step counts as made by the compiler.
    let own = (try? sections.get()) ?? [:]
    var (steps, problems): ([StartupStep], [ImageError]) = ([], [])
    func add(_ read: () throws(ImageError) -> [StartupStep]) {
      do throws(ImageError) { steps += try read() } catch { problems.append(error) }
    }
    let companions: [(kind: StartupStep.Kind, tag: Int32)] = [
      (.audit, DT_AUDIT), (.audit, DT_DEPAUDIT), (.filter, DT_FILTER), (.filter, DT_AUXILIARY),
      (.needed, DT_NEEDED),
    ]
    for (kind, tag) in companions {
      for offset in try dynamic()?.values(Int64(tag)) ?? [] {
        add { () throws(ImageError) in
          guard let dynamic = try dynamic() else { return [] }
          do throws(ImageError) {
            return [StartupStep(kind: kind, name: try name(at: offset, dynamic))]
          } catch  where dynamic.symbols?.lacksNames == true {
            return [StartupStep(kind: kind, note: "many names share its bytes")]
          }
        }
      }
    }
    // One pass over the relocations serves all arrays and the resolvers.
    for (kind, place) in places {
      if let size = place.size, size <= StartupStep.mostBytes {
        wanted.insert(Self.array(kind, at: place.start, size).addresses)
      }
    }
    add { () throws(ImageError) in try threadLocals() }
    add { () throws(ImageError) in try resolvers() }
    for kind in StartupStep.Kind.allCases {
      guard let place = places[kind] else { continue }
      add { () throws(ImageError) in
        try self.steps(kind, place, isOfSection: own[kind]?.start == place.start)
      }
    }
    do throws(ImageError) { try name(&steps) } catch { problems.append(error) }
    steps.limitNames(to: file.size)
    return (steps, problems)
  }

  /// Returns the functions of the file that the loader calls to open it, in order.
  func initialisers() throws(ImageError) -> [StartupStep] {
    guard let places = try startupPlaces() else { return [] }
    var steps: [StartupStep] = []
    for kind in [StartupStep.Kind.initialiser, .initArray] {
      if let place = places[kind] { steps += try self.steps(kind, place) }
    }
    return steps
  }

  // MARK: - Where it is

  /// The address of the one function of a kind, or the address of an array and its size in bytes.
  private typealias StartupPlaces = [StartupStep.Kind: (start: UInt64, size: UInt64?)]

  /// Returns the places that the dynamic section names; nil if there is no dynamic section.
  private func startupPlaces() throws(ImageError) -> StartupPlaces? {
    guard let dynamic = try dynamic() else { return nil }
    let tags: [(kind: StartupStep.Kind, start: Int32, size: Int32?)] = [
      (.preinit, DT_PREINIT_ARRAY, DT_PREINIT_ARRAYSZ), (.initialiser, DT_INIT, nil),
      (.initArray, DT_INIT_ARRAY, DT_INIT_ARRAYSZ), (.finiArray, DT_FINI_ARRAY, DT_FINI_ARRAYSZ),
      (.finaliser, DT_FINI, nil),
    ]
    var places: StartupPlaces = [:]
    for (kind, start, size) in tags where kind != .preinit || isProgram {
      guard let start = dynamic.value(Int64(start)) else { continue }
      places[kind] = (start, size.map { dynamic.value(Int64($0)) ?? 0 })
    }
    return places
  }

  /// Returns the places that the section headers name. A file without a dynamic section starts by them.
  private func startupSections() throws(ImageError) -> StartupPlaces {
    let arrays: [Int32: StartupStep.Kind] = [
      SHT_PREINIT_ARRAY: .preinit, SHT_INIT_ARRAY: .initArray, SHT_FINI_ARRAY: .finiArray,
    ]
    let functions: [String: StartupStep.Kind] = [".init": .initialiser, ".fini": .finaliser]
    let table = try sectionTable()
    var places: StartupPlaces = [:]
    for index in sectionIndices where table[index].isLoaded && table[index].sh_size > 0 {
      let entry = table[index]
      if let kind = arrays[Int32(bitPattern: entry.sh_type)] {
        places[kind] = (entry.sh_addr, entry.sh_size)
      } else if entry.isExecutable, let kind = table.name(of: index).flatMap({ functions[$0] }) {
        places[kind] = (entry.sh_addr, nil)
      }
    }
    return places
  }

  // MARK: - What it leads to

  private func threadLocals() throws(ImageError) -> [StartupStep] {
    try segments().all.filter { $0.isOf(PT_TLS) }.map {
      StartupStep(
        kind: .threadLocal, note: "\($0.p_memsz) bytes, of which \($0.p_filesz) have values")
    }
  }

  private static func array(_ kind: StartupStep.Kind, at start: UInt64, _ size: UInt64) -> Section {
    Section(
      index: 0, name: kind.rawValue, address: VirtualAddress(rawValue: start), offset: nil,
      size: size)
  }

  private func steps(
    _ kind: StartupStep.Kind, _ place: (start: UInt64, size: UInt64?), isOfSection: Bool = false
  ) throws(ImageError) -> [StartupStep] {
    let start = place.start
    guard let size = place.size else {
      return [StartupStep(kind: kind, address: start, isOfCompiler: isOfSection)]
    }
    try file.check(
      size <= StartupStep.mostBytes, .malformed, "The \(kind.rawValue) claims \(size) bytes.")
    let array = Self.array(kind, at: start, size)
    var steps: [StartupStep] = []
    let word = UInt64(header.wordSize)
    for offset in stride(from: 0, to: array.size - array.size % word, by: Int(word)) {
      let pointer = try pointer(at: offset, ofArray: array)
      var step = StartupStep(kind: kind, index: Int(offset / word), pointer)
      if machine.marksDescriptors, let address = step.address, address & 2 != 0 {
        step.note = "marks a descriptor: the function is what a relocation writes there"
      }
      steps.append(step)
    }
    return kind == .finiArray ? steps.reversed() : steps
  }

  /// Returns the functions of the file that choose addresses, each once: those of its relocations, and those that other
  /// images may bind to.
  private func resolvers() throws(ImageError) -> [StartupStep] {
    let found = try relocationSurvey()
    try file.check(
      found.addends.count + found.places.count <= ELFRelocations.Survey.most, .malformed,
      "It claims more than \(ELFRelocations.Survey.most) functions that choose addresses.")
    var steps: [StartupStep] = []
    var known: Set<UInt64> = []
    func add(_ kind: StartupStep.Kind, _ address: UInt64, _ name: String?) {
      guard known.insert(address).inserted else { return }
      steps.append(StartupStep(kind: kind, address: address, name: name))
    }
    var addresses = found.addends
    for place in found.places {
      addresses.insert(try pointerWord(at: VirtualAddress(rawValue: place)))
    }
    for address in addresses.sorted() { add(.resolver, address, nil) }
    guard let symbols = try dynamic()?.symbols else { return steps }
    var exported: [Symbol] = []
    let count = try symbolHash().count
    func consider(_ number: UInt32) throws(ImageError) {
      guard let symbol = try symbols.symbol(number, where: \.isResolver) else { return }
      if found.symbols.contains(number) {
        add(.resolver, symbol.value, symbol.name)
      } else {
        exported.append(symbol)
      }
    }
    for number in 0..<count { try consider(number) }
    for number in found.symbols.sorted() where number >= count { try consider(number) }
    for symbol in exported { add(.exportedResolver, symbol.value, symbol.name) }
    return steps
  }

  // MARK: - Names

  /// Names the steps after the symbols of their functions, if the file has any.
  private func name(_ steps: inout [StartupStep]) throws(ImageError) {
    var names: [UInt64: String] = [:]
    var chosen: [UInt64: String] = [:]
    var labels: [UInt64: String] = [:]
    let resolvers = steps.contains { $0.kind.isResolver }
    let wanted = Set(steps.compactMap { $0.name == nil || $0.kind.isResolver ? $0.address : nil })
    defer {
      for index in steps.indices {
        guard let address = steps[index].address else { continue }
        if steps[index].name == nil {
          steps[index].name = names[address] ?? chosen[address] ?? labels[address]
        }
        guard steps[index].kind.isResolver, let function = names[address],
          let symbol = chosen[address], function != symbol
        else { continue }
        steps[index].note =
          steps[index].name == function ? "chooses \(symbol)" : "\(function) chooses it"
      }
    }
    guard !wanted.isEmpty else { return }
    try forEachSymbol(where: { $0.mayBeFunction && wanted.contains($0.value) }) { symbol in
      if symbol.name.isEmpty { return true }
      if symbol.isResolver {
        chosen[symbol.value] = chosen[symbol.value] ?? symbol.name
      } else if symbol.type != UInt8(STT_NOTYPE) {
        names[symbol.value] = names[symbol.value] ?? symbol.name
      } else if !symbol.isMark {
        labels[symbol.value] = labels[symbol.value] ?? symbol.name
      }
      return resolvers || names.count < wanted.count
    }
  }
}

extension StartupStep.Kind {
  fileprivate var isResolver: Bool { self == .resolver || self == .exportedResolver }
}

extension Symbol {
  /// Whether it is a function of this file that chooses the target of its name: `STT_GNU_IFUNC`.
  fileprivate var isResolver: Bool { type == UInt8(STT_GNU_IFUNC) && isDefined }
  /// Whether it is a function of this file, as far as that does not depend on its name.
  fileprivate var mayBeFunction: Bool {
    isResolver || (type == UInt8(STT_FUNC) || type == UInt8(STT_NOTYPE)) && isDefined
  }
  /// Whether it is a mark of assemblers: `$x` describes bytes on ARM and RISC-V, `.L` is a place on RISC-V.
  fileprivate var isMark: Bool { name.hasPrefix("$") || name.hasPrefix(".L") }
}
