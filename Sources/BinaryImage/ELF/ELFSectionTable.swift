internal import CElf

/// Which sections have a given name: two reads answer, without libelf.
///
/// Most files have no section of the name that is looked for, and a walk over them should not pay
/// for headers that are not needed.
package struct ELFSectionTable {
  /// The number of sections, the null entry included.
  let count: Int
  /// What one read got: the headers from `firstHeader` on.
  private let bytes: ArraySlice<UInt8>
  private let firstHeader: Int
  private let bits: Int
  private let stride: Int
  /// What holds the names: as a rule the same bytes.
  private let texts: ArraySlice<UInt8>
  private let names: Range<Int>
  private let order: ImageIdentity.ByteOrder
  /// Which section holds the names.
  private let nameTable: Int

  /// As many bytes as the names of most files' sections have.
  private static let usualNames: UInt64 = 512

  /// More bytes than the names of any file's sections have.
  private static let mostNames: UInt64 = 1 << 28

  /// Reads the section table of `file`, which must be complete, and the names.
  package init(of file: OpenedFile, _ header: ELFHeader) throws(ImageError) {
    let (bits, order) = (header.bits, header.order)
    let (stride, count) = (ELFSectionHeader.size(bits: bits), Int(header.sections.count))
    // Linkers put the names right before the table, so one read has both as a rule.
    let ahead = min(header.sections.offset, Self.usualNames)
    let first = header.sections.offset - ahead
    let tail = try file.slice(at: first, count: Int(ahead) + count * stride)
    func section(_ index: Int) -> ELFSectionHeader {
      ELFSectionHeader(tail.span, at: Int(ahead) + index * stride, bits: bits, order: order)
    }
    // SHN_XINDEX: the real index is in section header 0.
    let isExtended = header.nameSection == UInt16(SHN_XINDEX)
    let index = isExtended ? section(0).link : Int(header.nameSection)
    let named = index > 0 && index < count ? section(index) : nil
    guard let named, named.type == UInt32(SHT_STRTAB) else {
      throw file.error(.malformed, "No section holds the names of the sections.")
    }
    let (offset, size) = (named.offset, named.size)
    try file.check(
      file.holds(offset, size), .truncated, "The file ends before the sections' names do.",
      at: offset)
    guard size <= Self.mostNames else {
      throw file.error(.malformed, "The sections' names claim \(size) bytes.", at: offset)
    }
    if offset >= first, offset - first <= ahead, size <= ahead - (offset - first) {
      (texts, names) = (tail, Int(offset - first)..<Int(offset - first + size))
    } else {
      texts = try file.slice(at: offset, count: Int(size))
      names = 0..<Int(size)
    }
    (bytes, firstHeader) = (tail, Int(ahead))
    (self.bits, self.stride, self.count, self.order) = (bits, stride, count, order)
    nameTable = index
  }

  /// Names to look for.
  package struct Names {
    fileprivate let texts: [[UInt8]]
    /// What all of them begin with: few sections do.
    fileprivate let beginning: [UInt8]

    init(_ names: [String]) {
      texts = names.map { Array($0.utf8) }
      var common = texts.first ?? []
      for text in texts.dropFirst() {
        while !text.starts(with: common) { common.removeLast() }
      }
      beginning = common
    }

    /// `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`.
    package static let ofThisProject = Names(SectionNote.names)
  }

  /// The indices of the sections of exactly this name, ascending.
  func indices(named name: String) -> [Int] {
    var found: [Int] = []
    forEach(named: Names([name])) { index, _ in found.append(index) }
    return found
  }

  /// The indices of all sections by their names, ascending; nil where the names are too long to be listed.
  func indicesByName() -> [String: [Int]]? {
    var found: [String: [Int]] = [:]
    var length = 0
    for index in 1..<max(1, count) {
      guard let name = name(of: index) else { continue }
      length += name.utf8.count
      guard length <= plausibleLength else { return nil }
      found[name, default: []].append(index)
    }
    return found
  }

  /// Every section that has one of the wanted names, ascending, and which of them.
  package func forEach(named wanted: Names, _ body: (_ index: Int, _ name: Int) -> Void) {
    let names = texts.span.extracting(names)
    let headers = bytes.span.extracting(firstHeader...)
    let beginning = wanted.beginning.span
    let first = beginning.isEmpty ? nil : beginning[0]
    var start = 0
    for index in 1..<max(1, count) {
      start += stride
      guard let word: UInt32 = headers.integer(at: start, order: order) else { break }
      let offset = Int(word)
      guard offset < names.count, first == nil || names[offset] == first,
        names.holds(beginning, at: offset)
      else { continue }
      for name in wanted.texts.indices {
        let text = wanted.texts[name]
        // Where it would end tells most of them apart.
        guard text.count < names.count - offset, names[offset + text.count] == 0,
          names.holds(text.span, at: offset)
        else { continue }
        body(index, name)
      }
    }
  }

  /// The header of a section.
  subscript(index: Int) -> ELFSectionHeader {
    ELFSectionHeader(bytes.span, at: firstHeader + index * stride, bits: bits, order: order)
  }

  /// Whether the name of some section starts with `prefix`.
  func holds(namesStartingWith prefix: String) -> Bool {
    let (names, beginning) = (texts.span.extracting(names), Array(prefix.utf8))
    for index in 1..<max(1, count) where names.holds(beginning.span, at: nameOffset(of: index)) {
      return true
    }
    return false
  }

  /// Whether the name of a section starts with `prefix`.
  func name(of index: Int, startsWith prefix: String) -> Bool {
    texts.span.extracting(names).holds(Array(prefix.utf8).span, at: nameOffset(of: index))
  }

  /// Whether a section has exactly this name, whose bytes are compared where they are.
  func name(of index: Int, is text: [UInt8]) -> Bool {
    guard 0..<count ~= index else { return false }
    let (names, offset) = (texts.span.extracting(names), nameOffset(of: index))
    return names.holds(text.span, at: offset) && names[offset + text.count] == 0
  }

  /// The name of a section; nil where it lies outside the names.
  func name(of index: Int) -> String? {
    let (names, start) = (texts.span.extracting(names), nameOffset(of: index))
    guard let length = names.textLength(from: start) else { return nil }
    return String(decoding: names.extracting(start..<start + length))
  }

  /// Throws where the headers or the names cannot be those that were written: what is found in the
  /// wrong bytes has other names.
  func checkNames(of file: OpenedFile) throws(ImageError) {
    // Every linker and assembler calls the table of names so, and starts it with the empty name.
    let (own, texts) = (name(of: nameTable), texts.span)
    try file.check(
      self[0].type == UInt32(SHT_NULL) && (own == ".shstrtab" || own == ".strtab")
        && texts[names.lowerBound] == 0 && texts[names.upperBound - 1] == 0, .malformed,
      "The section headers and the sections' names do not belong together.")
    for index in 1..<count where nameOffset(of: index) >= names.count {
      throw file.error(.malformed, "The name of section \(index) lies outside the names.")
    }
  }

  /// The most bytes that all names together should have, though they may share bytes.
  var plausibleLength: Int { names.count * 16 + 4096 }

  private func start(of index: Int) -> Int { firstHeader + index * stride }

  @inline(__always)
  private func nameOffset(of index: Int) -> Int {
    let offset: UInt32? = bytes.span.integer(at: start(of: index), order: order)
    return offset.map(Int.init) ?? -1
  }
}
