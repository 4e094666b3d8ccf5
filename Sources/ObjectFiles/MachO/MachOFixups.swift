package import BinaryImage

/// The words of some ranges of a file that are written when it is linked or loaded.
///
/// `at` takes the address and the value of a word, and returns its fixup; nil if nothing writes to the word.
typealias MachOFixups = (
  ranges: AddressRanges, at: (UInt64, UInt64) throws(ImageError) -> MachOFixup?
)

/// The meaning of a word that the loader writes. With the ordinal of a library, the loader writes the address of a
/// symbol, which the image itself may define.
typealias MachOFixup = (pointer: PointerValue, library: Int?)

extension PointerValue {
  /// Describes a word that leads to a linked address. Other images may override a symbol that is weakly bound there.
  static func rebased(
    _ raw: UInt64, to address: UInt64, _ resolution: Resolution, weak symbol: String? = nil
  ) -> MachOFixup {
    let target = Target.address(VirtualAddress(rawValue: address))
    return (
      PointerValue(rawValue: raw, target: target, resolution: resolution, symbol: symbol), nil
    )
  }

  /// Describes a word that the loader overwrites with the address of a symbol.
  static func bound(_ raw: UInt64, to bind: MachOBind) -> MachOFixup {
    let target = Target.imported(symbol: bind.symbol, addend: bind.addend)
    return (
      PointerValue(rawValue: raw, target: target, resolution: .symbol, symbol: bind.symbol),
      bind.library
    )
  }

  /// Describes a word that is no pointer, or cannot be followed.
  static func unresolvable(_ raw: UInt64, _ reason: String) -> PointerValue {
    PointerValue(rawValue: raw, target: .unresolvable(reason), resolution: .none)
  }
}

/// The search for fixups: in chains, programs or relocations, by the age of the file.
extension MachOFile {
  package func rewrite(
    of range: Range<UInt64>, in section: Section, except pointers: (UInt64, UInt64)?
  ) throws(ImageError) -> UInt64? {
    guard section.isMapped else { return nil }
    let start = section.address.rawValue
    let (first, overflow) = start.addingReportingOverflow(range.lowerBound)
    try file.check(!overflow, .malformed, "The section wraps around.", section: section.name)
    let end = first.saturating(adding: UInt64(range.count))
    guard let fixups = try fixups(of: first..<end, in: section) else { return nil }
    for place in first - min(first, UInt64(header.wordSize) - 1)..<end
    where pointers.map({ place != start &+ $0.0 && place != start &+ $0.1 }) ?? true {
      if try fixups.at(place, 0) != nil { return place }
    }
    return nil
  }

  package func writableSegment(at address: VirtualAddress) throws(ImageError) -> Section? {
    guard !header.isObject else { return nil }
    let segments = try segments.get()
    guard let index = segments.index(holding: address.rawValue), segments.list[index].isWritable
    else { return nil }
    let segment = segments.list[index]
    return Section(
      index: 0, name: "", address: VirtualAddress(rawValue: segment.address), offset: nil,
      size: segment.mappedSize)
  }

  /// Returns the fixups of a range, and of all other wanted ones; nil if the file has none.
  func fixups(of range: Range<UInt64>, in section: Section) throws(ImageError) -> MachOFixups? {
    // Each section of an object has relocations of its own, and no address.
    let key = header.isObject ? section.index : 0
    if let known = try knownFixups[key]?.get(), header.isObject || known.ranges.covers(range) {
      return known
    }
    let found = Result { () throws(ImageError) in
      header.isObject ? try relocations(ofObject: section) : try linkedFixups(with: section)
    }
    knownFixups[key] = found
    return try found.get()
  }

  private func linkedFixups(with section: Section) throws(ImageError) -> MachOFixups? {
    let commands = try commands.get()
    if let extent = commands.chainedFixups, extent.size > 0 {
      let chains = try MachOChains(of: file, header, at: extent, segments)
      // A page is read when one of its words is wanted.
      return (AddressRanges([0..<UInt64.max]), chains.fixup)
    }
    wanted.insert(section.addresses)
    let ranges = AddressRanges(wanted, before: UInt64(header.wordSize) - 1)
    if let extents = commands.programs {
      let programs = try MachOPrograms(extents, of: file, header, segments.get(), ranges: ranges)
      return (ranges, programs.fixup)
    }
    guard let extents = commands.classicRelocations, commands.chainedFixups == nil else {
      return nil
    }
    let origin = try segments.get().list
      .first { $0.isWritable || !header.countsFromWritableSegment }
    return try relocations(at: extents, ranges: ranges, origin: origin?.address ?? 0)
  }

  private func relocations(ofObject section: Section) throws(ImageError) -> MachOFixups {
    let table = try sectionEntry(section.index).relocations
    try file.check(
      file.holds(table.offset, table.size), .truncated,
      "The file ends before the section's relocations do.", section: section.name, at: table.offset)
    return try relocations(at: [table], ranges: AddressRanges([0..<section.size]))
  }

  /// Returns the relocations at some extents that fall into `ranges`. Their addresses count from `origin`.
  private func relocations(
    at extents: [FileExtent], ranges: AddressRanges, origin: UInt64 = 0
  ) throws(ImageError) -> MachOFixups {
    var found: [(place: UInt64, words: MachORelocation, isCombined: Bool)] = []
    for extent in extents {
      try file.forEachPiece(of: extent, entry: 8) { bytes in
        for position in stride(from: 0, to: bytes.count, by: 8) {
          let address: UInt32 = bytes.span.integer(at: position, order: header.order) ?? 0
          let target: UInt32 = bytes.span.integer(at: position + 4, order: header.order) ?? 0
          let offset = header.isScattered(address) ? address & 0x00ff_ffff : address
          let place = UInt64(offset) &+ origin
          if ranges.contains(place) { found.append((place, (address, target), false)) }
        }
      }
    }
    // Relocations that share an address make a difference of two addresses.
    found.settle(by: { $0.place }) { earlier, _ in earlier.isCombined = true }
    let list = found
    return (
      ranges,
      // The file owns this closure, so it outlives the closure.
      { [unowned self] place, raw throws(ImageError) in
        guard let entry = list.element(at: place, by: { $0.place }) else { return nil }
        if entry.isCombined {
          return (.unresolvable(raw, "several relocations make the word"), nil)
        }
        return (try resolve(entry.words, raw: raw), nil)
      }
    )
  }
}

/// The two words of a relocation in an object, or in a linked file that is older than `LC_DYLD_INFO`. The first word
/// has the address to write to, the second the symbol, section or value.
///
/// C: `struct relocation_info` and `scattered_relocation_info` of `<mach-o/reloc.h>`.
typealias MachORelocation = (address: UInt32, target: UInt32)

/// The symbol whose address the loader writes, the ordinal of its library, and the addend.
typealias MachOBind = (symbol: String, library: Int, addend: Int64)

/// The fixups of `LC_DYLD_INFO` that fall into some ranges, found by running its programs.
///
/// C: the `REBASE_OPCODE_*` and `BIND_OPCODE_*` of `<mach-o/loader.h>`.
private struct MachOPrograms {
  /// A word that is fixed up. `bind` is the index of its bind: -1 if it is only rebased, -2 if it is no pointer.
  /// `isWeak` tells whether images that share a definition agree on it. `weak` is the index of a weak bind of a word
  /// that has its own value too, or -1.
  private typealias Slot = (place: UInt64, bind: Int32, isWeak: Bool, weak: Int32)

  private let ranges: AddressRanges
  private let file: OpenedFile
  private let segments: [MachOSegment]
  private let wordSize: UInt64
  private let mask: UInt64
  private var slots: [Slot] = []
  private var binds: [MachOBind] = []
  /// The number of words that may still be fixed up. Each of them takes bytes in the file.
  private var budget: UInt64
  /// The position of a program, and whether it writes pointers there: `REBASE_TYPE_POINTER`, `BIND_TYPE_POINTER`.
  private var segment: MachOSegment?, offset: UInt64 = 0, isPointer = true

  /// More bytes than the programs of any file have.
  private static let mostBytes: UInt64 = 1 << 28

  /// Runs the programs of `file`: rebases, binds, lazy and weak binds.
  init(
    _ programs: [FileExtent], of file: OpenedFile, _ header: MachOHeader, _ segments: MachOSegments,
    ranges: AddressRanges
  ) throws(ImageError) {
    (self.ranges, self.file, self.segments) = (ranges, file, segments.list)
    wordSize = UInt64(header.wordSize)
    mask = header.bits == 64 ? .max : 0xffff_ffff
    budget = file.size / 4
    for (index, extent) in programs.enumerated() {
      try file.check(
        extent.size <= Self.mostBytes, .malformed,
        "The loader's information claims \(extent.size) bytes.", at: extent.offset)
      let bytes = try file.read(at: extent.offset, count: Int(extent.size))
      (segment, offset, isPointer) = (nil, 0, true)
      if index == 0 {
        try rebase(bytes)
      } else {
        try bind(bytes, isLazy: index == 2, isWeak: index == 3)
      }
    }
    // A bind replaces a rebase unless it is weak. Then the image has a definition of its own, and only meets other
    // definitions when it is loaded.
    slots.settle(by: { $0.place }) { earlier, later in
      if later.isWeak { earlier.weak = later.bind } else { earlier = later }
    }
  }

  /// Returns the meaning of the word `raw` at `place`; nil if the loader does not change it.
  func fixup(at place: UInt64, raw: UInt64) -> MachOFixup? {
    guard let slot = slots.element(at: place, by: { $0.place }) else { return nil }
    switch slot.bind {
    case -1:
      let weak = slot.weak < 0 ? nil : binds[Int(slot.weak)].symbol
      return PointerValue.rebased(raw, to: raw, .rebase, weak: weak)
    case -2: return (.unresolvable(raw, "the loader adjusts code here, no pointer"), nil)
    case let index: return PointerValue.bound(raw, to: binds[Int(index)])
    }
  }

  /// Fixes up `count` words, with `skip` bytes after each.
  private mutating func mark(
    _ count: UInt64, skipping skip: UInt64 = 0, bind: Int32 = -1, isWeak: Bool = false
  ) throws(ImageError) {
    try file.check(
      count <= budget, .malformed, "The loader is told to fix up more words than the file has.")
    budget -= count
    guard let segment else {
      guard count == 0 else { throw file.error(.malformed, "A fixup names no segment.") }
      return
    }
    for _ in 0..<count {
      try file.check(
        offset < segment.memorySize && segment.memorySize - offset >= wordSize,
        .malformed, "A fixup lies outside the segment \(segment.name).")
      let place = segment.address &+ offset
      if ranges.contains(place) {
        slots.append((place, isPointer ? bind : -2, isWeak, -1))
      }
      move(wordSize &+ skip)
    }
  }

  private mutating func move(_ distance: UInt64) { offset = (offset &+ distance) & mask }

  private mutating func enter(_ index: UInt8, at offset: UInt64) throws(ImageError) {
    try file.check(
      Int(index) < segments.count, .malformed, "A fixup names segment \(index), which is not there."
    )
    (segment, self.offset) = (segments[Int(index)], offset & mask)
  }

  private mutating func rebase(_ bytes: [UInt8]) throws(ImageError) {
    var reader = LEBReader(bytes, of: file, "the rebase opcodes")
    while !reader.isAtEnd {
      let byte = try reader.byte()
      let low = byte & 0xf
      switch byte & 0xf0 {
      case 0x00: return
      case 0x10: isPointer = low == 1
      case 0x20: try enter(low, at: reader.unsigned())
      case 0x30: try move(reader.unsigned())
      case 0x40: move(UInt64(low) * wordSize)
      case 0x50: try mark(UInt64(low))
      case 0x60: try mark(reader.unsigned())
      case 0x70: try mark(1, skipping: reader.unsigned())
      case 0x80: try mark(reader.unsigned(), skipping: reader.unsigned())
      default:
        throw file.error(.unsupported, "Rebase opcode 0x\(String(byte, radix: 16)) is unknown.")
      }
    }
  }

  private mutating func bind(_ bytes: [UInt8], isLazy: Bool, isWeak: Bool) throws(ImageError) {
    var reader = LEBReader(bytes, of: file, "the bind opcodes")
    var name = 0..<0
    var symbol: String?
    var (library, addend) = (isWeak ? -3 : 0, Int64(0))
    var current: Int32?
    // Most binds are outside of the ranges. Texts are made only of the others.
    func place(_ count: UInt64, _ skip: UInt64) throws(ImageError) {
      let index = current ?? Int32(truncatingIfNeeded: binds.count)
      let kept = slots.count
      try mark(count, skipping: skip, bind: index, isWeak: isWeak)
      guard slots.count > kept, current == nil else { return }
      let text = symbol ?? String(decoding: bytes.span.extracting(name))
      binds.append((text, library, addend))
      (symbol, current) = (text, index)
    }
    while !reader.isAtEnd {
      let byte = try reader.byte()
      let low = byte & 0xf
      switch byte & 0xf0 {
      case 0x00 where isLazy: continue
      case 0x00: return
      case 0x10: (library, current) = (Int(low), nil)
      case 0x20: (library, current) = (Int(truncatingIfNeeded: try reader.unsigned()), nil)
      case 0x30: (library, current) = (low == 0 ? 0 : Int(Int8(bitPattern: 0xf0 | low)), nil)
      case 0x40: (name, symbol, current) = (try reader.text(), nil, nil)
      case 0x50: isPointer = low == 1
      case 0x60: (addend, current) = (try reader.signed(), nil)
      case 0x70: try enter(low, at: reader.unsigned())
      case 0x80: try move(reader.unsigned())
      case 0x90: try place(1, 0)
      case 0xa0: try place(1, reader.unsigned())
      case 0xb0: try place(1, UInt64(low) * wordSize)
      case 0xc0: try place(reader.unsigned(), reader.unsigned())
      case 0xd0:
        throw file.error(
          .unsupported, "Its fixups are threaded, as the first arm64e files' were; not read.")
      default:
        throw file.error(.unsupported, "Bind opcode 0x\(String(byte, radix: 16)) is unknown.")
      }
    }
  }
}
