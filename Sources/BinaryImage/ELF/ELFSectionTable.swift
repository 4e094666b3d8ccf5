internal import CElf

/// The section headers of a file and their names.
///
/// Most files have no section of the name that is looked for: names are compared where they are, and none is made a
/// text that nobody asked for. `elf_strptr` would have libelf read all names of the file into a copy of its own.
struct ELFSectionTable {
  /// Every header, the null entry included.
  let headers: [ELFSectionHeader]
  /// The bytes that hold the names.
  private let names: [UInt8]
  /// The section that holds the names.
  private let nameTable: Int

  /// The number of sections, the null entry included.
  var count: Int { headers.count }

  /// Takes the headers that libelf reads, and the bytes of section `nameTable`.
  init(_ headers: [ELFSectionHeader], names: [UInt8], of nameTable: Int) {
    (self.headers, self.names, self.nameTable) = (headers, names, nameTable)
  }

  /// Names to look for.
  struct Names {
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
    static let ofThisProject = Names(SectionNote.names)
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
  func forEach(named wanted: Names, _ body: (_ index: Int, _ name: Int) -> Void) {
    let names = names.span
    let beginning = wanted.beginning.span
    let first = beginning.isEmpty ? nil : beginning[0]
    for index in 1..<max(1, count) {
      let offset = headers[index].name
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
  subscript(index: Int) -> ELFSectionHeader { headers[index] }

  /// Whether the name of some section starts with `prefix`.
  func holds(namesStartingWith prefix: String) -> Bool {
    let (names, beginning) = (names.span, Array(prefix.utf8))
    for index in 1..<max(1, count) where names.holds(beginning.span, at: headers[index].name) {
      return true
    }
    return false
  }

  /// Whether the name of a section starts with `prefix`.
  func name(of index: Int, startsWith prefix: String) -> Bool {
    names.span.holds(Array(prefix.utf8).span, at: headers[index].name)
  }

  /// Whether a section has exactly this name, whose bytes are compared where they are.
  func name(of index: Int, is text: [UInt8]) -> Bool {
    guard 0..<count ~= index else { return false }
    let (names, offset) = (names.span, headers[index].name)
    return names.holds(text.span, at: offset) && names[offset + text.count] == 0
  }

  /// The name of a section as text; nil where it lies outside the names.
  func name(of index: Int) -> String? {
    range(of: index).map { String(decoding: names.span.extracting($0)) }
  }

  /// The bytes of the name of a section, if these are no UTF-8.
  func nameBytes(of index: Int, _ text: String) -> [UInt8]? {
    // A replacement character may stand in the name itself, which is rare.
    guard text.utf8.contains(0xef), let range = range(of: index) else { return nil }
    let bytes = Array(names[range])
    return text.utf8.elementsEqual(bytes) ? nil : bytes
  }

  private func range(of index: Int) -> Range<Int>? {
    let start = headers[index].name
    return names.span.textLength(from: start).map { start..<start + $0 }
  }

  /// Throws where the headers or the names cannot be those that were written: what is found in the
  /// wrong bytes has other names.
  func checkNames(of file: OpenedFile) throws(ImageError) {
    // Every linker and assembler calls the table of names so, and starts it with the empty name.
    let own = name(of: nameTable)
    try file.check(
      self[0].type == UInt32(SHT_NULL) && (own == ".shstrtab" || own == ".strtab")
        && names.first == 0 && names.last == 0, .malformed,
      "The section headers and the sections' names do not belong together.")
    for index in 1..<count where headers[index].name >= names.count {
      throw file.error(.malformed, "The name of section \(index) lies outside the names.")
    }
  }

  /// The most bytes that all names together should have, though they may share bytes.
  var plausibleLength: Int { names.count * 16 + 4096 }
}
