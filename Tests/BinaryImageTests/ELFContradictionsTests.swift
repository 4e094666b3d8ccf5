import BinaryImage
import TestSupport
import Testing

/// Section tables that lie. Either the note and `PT_DYNAMIC` still lead to the entries, or the reader reports a
/// problem.
@Suite("ELF files that contradict themselves")
struct ELFContradictionsTests {
  private static let mods = "BeehiveMods"

  /// Lies for any file.
  static let commonLies: [Lie<ELFEditor>] = [
    Lie("nothing", nil) { _ in },
    Lie("no size of an entry", nil) { $0.set(mods, .entrySize, 0) },
    Lie("an absurd size of an entry", nil) { $0.set(mods, .entrySize, .max) },
    Lie("an empty section past the end", nil) {
      $0.set(".comment", .size, 0)
      $0.set(".comment", .offset, 1 << 40)
    },
    Lie("the bytes past the end", .truncated) { $0.set(mods, .offset, 1 << 40) },
    Lie("the bytes at the end of all numbers", .truncated) { $0.set(mods, .offset, .max - 7) },
    Lie("more bytes than the file", .truncated) { $0.set(mods, .size, 1 << 40) },
    Lie("zeros in a file without bytes", .noContents) { $0.set(mods, .type, 8) },
    Lie("names past the end", .truncated) { $0.set($0.names, .offset, 1 << 40) },
    Lie("names in a section that holds none", .malformed) { $0.put(1, 2, at: 62) },
    Lie("names in a section that is not there", .malformed) { $0.put(0xfff0, 2, at: 62) },
    Lie("headers of another size", .malformed) { $0.put(56, 2, at: 58) },
    Lie("one header alone", .malformed) { $0.put(1, 2, at: 60) },
  ]

  /// Lies for a linked file. Its note and segments describe the sections too.
  static let linkedLies: [Lie<ELFEditor>] = [
    Lie("the headers one before", .malformed) { $0.put($0.table - 64, 8, at: 40) },
    Lie("no bytes", .malformed) { $0.set(mods, .size, 0) },
    Lie("one entry less", .malformed) { $0.set(mods, .size, 8) },
    Lie("another name", .malformed) { $0.set(mods, .name, $0.get(".text", .name)) },
    Lie("the name one letter on", .malformed) { $0.add(1, to: mods, .name) },
    Lie("a name outside the names", .malformed) { $0.set(mods, .name, 1 << 31) },
    Lie("names that start later", .malformed) { $0.add(1, to: $0.names, .offset) },
    Lie("no names", .malformed) { $0.set($0.names, .size, 0) },
    Lie("no section table", nil) {
      $0.put(0, 8, at: 40)
      $0.put(0, 2, at: 60)
    },
    Lie("a section table past the end", .truncated) { $0.put(1 << 40, 8, at: 40) },
    Lie("the headers one further on", .truncated) { $0.put($0.table + 64, 8, at: 40) },
    // No loader maps it, so nothing relocates its words.
    Lie("a section that is not loaded", .outOfImage) { $0.set(mods, .flags, 0) },
    Lie("another address", .malformed) { $0.add(0x100, to: mods, .address) },
    Lie("an address outside the segments", .malformed) { $0.set(mods, .address, 1 << 40) },
    Lie("no address", .malformed) { $0.set(mods, .address, 0) },
    Lie("the name on a note", .malformed) {
      $0.set(".note.gnu.build-id", .name, $0.get(mods, .name))
    },
    Lie("the name on a table of names", .malformed) {
      $0.set(".dynstr", .name, $0.get(mods, .name))
    },
    Lie("the bytes of other addresses", .malformed) { $0.add(8, to: mods, .offset) },
    Lie("another table of names", .malformed) { $0.put(UInt64($0.index(".dynstr")), 2, at: 62) },
    Lie("relocations that no section tells of", nil) {
      $0.set(".rela.dyn", .offset, 0)
      $0.set(".rela.dyn", .size, 0)
      $0.set(".dynamic", .size, 0)
    },
  ]

  /// Lies for an object. Its relocations describe the sections too.
  static let objectLies: [Lie<ELFEditor>] = [
    Lie("a section table past the end", .sectionTableMissing) { $0.put(1 << 40, 8, at: 40) },
    Lie("the headers one further on", .sectionTableMissing) { $0.put($0.table + 64, 8, at: 40) },
    Lie("relocations past the end", .malformed) { $0.set(".relaBeehiveMods", .size, 1 << 40) },
    Lie("relocations elsewhere past the end", .truncated) {
      $0.set(".relaBeehiveMods", .offset, 1 << 40)
    },
    Lie("relocations without a size of an entry", nil) {
      $0.set(".relaBeehiveMods", .entrySize, 0)
    },
    Lie("relocations by no symbols", .malformed) {
      $0.set(".relaBeehiveMods", .link, UInt64($0.index(".text")))
    },
    Lie("relocations by the symbols of no section", .malformed) {
      $0.set(".relaBeehiveMods", .link, 0xfff0)
    },
    Lie("no symbols", .malformed) { $0.set(".symtab", .size, 0) },
    Lie("symbols without names", .malformed) {
      $0.set(".symtab", .link, UInt64($0.index(".symtab")))
    },
  ]

  private static let library = Result { try FileAnswer.build("truth", ["-shared"]) }
  private static let object = Result { try FileAnswer.build("truth", ["-c"]) }

  private func expect(_ lie: Lie<ELFEditor>, of file: Result<String, any Error>) throws {
    let whole = FileAnswer(of: try file.get())
    #expect(whole.count == 3)
    var editor = ELFEditor(try Fixture.bytes(of: file.get()))
    lie.change(&editor)
    let path = try Fixture.write(editor.bytes, as: "lie-\(UInt64.random(in: 0 ... .max))")
    let found = FileAnswer(of: path)
    guard let code = lie.code else {
      #expect(found == whole)
      return
    }
    // The note still locates the entries.
    #expect(found.count == nil || found == whole)
    // The problem belongs to an entry, or to the file whatever its entries are.
    #expect(found == .refused(code) || problem(of: path) == code)
  }

  private func problem(of path: String) -> ImageError.Code? {
    do throws(ImageError) {
      let image = try ELFFile(path: path)
      for name in FileAnswer.names {
        _ = try image.sections(named: name)
      }
      try image.checkExtents()
      return nil
    } catch {
      return error.code
    }
  }

  @Test("A name outside the names comes with the place of the section's header")
  func nameOffset() throws {
    var editor = ELFEditor(try Fixture.bytes(of: Self.library.get()))
    editor.set(Self.mods, .name, 1 << 31)
    let file = try ELFFile(bytes: editor.bytes)
    let error = #expect(throws: ImageError.self) { try file.allSections() }
    #expect(error?.offset?.rawValue == editor.table + UInt64(editor.index(Self.mods) * 64))
  }

  @Test("with a section table that lies, linked", arguments: commonLies + linkedLies)
  func linked(lie: Lie<ELFEditor>) throws { try expect(lie, of: Self.library) }

  // Objects of gcc have all entries of a name in one section.
  @Test(
    "with a section table that lies, as objects", .needs("gcc"),
    arguments: commonLies + objectLies)
  func object(lie: Lie<ELFEditor>) throws { try expect(lie, of: Self.object) }

  // MARK: - Addresses

  @Test("lead to no text in memory that starts as zeros", arguments: [["-shared"], ["-c"]])
  func zeroed(arguments: [String]) throws {
    let source = """
      static char buffer[64];
      char *fill(void) { return buffer; }
      __attribute__((used, retain, section("BeehiveMods"))) static const char *const entry = buffer;
      """
    let path = try Fixture.compile(source, as: "bss\(arguments[0])", ["-fPIC"] + arguments)
    let image = try ELFFile(path: path)
    let target = try image.pointer(of: Self.mods).target
    expectError(arguments == ["-c"] ? .noContents : .outOfImage) { try image.text(at: target) }
  }

  /// The kernel maps segments this way: later ones in the table cover earlier ones.
  @Test("whose segments share addresses lead to what the last of them maps")
  func overlapping() throws {
    let path = try Self.library.get()
    guard case .address(let text) = try ELFFile(path: path).pointer(of: Self.mods).target else {
      throw Fixture.Failure(description: "the entry leads nowhere")
    }
    var editor = ELFEditor(try Fixture.bytes(of: path))
    let headers = editor.segments
    let cover = Array("Covered\0".utf8)
    let offset = editor.bytes.count
    editor.bytes += cover
    editor.put(UInt64(editor.bytes.count), 8, at: 32)
    editor.put(UInt64(headers.count / 56 + 1), 2, at: 56)
    editor.bytes += headers + [UInt8](repeating: 0, count: 56)
    let size = UInt64(cover.count)
    let fields: [UInt64] = [1 | 4 << 32, UInt64(offset), text.rawValue, 0, size, size, 1]
    for (field, value) in fields.enumerated() {
      editor.put(value, 8, at: editor.bytes.count - 56 + field * 8)
    }
    let covered = try Fixture.write(editor.bytes, as: "overlapping.so")
    #expect(try ELFFile(path: covered).texts(of: Self.mods)[0].text == "Covered")
    #expect(FileAnswer(of: covered).count == 3)
  }

  // MARK: - The number of program headers

  /// `PN_XNUM`: the number is in section header 0.
  @Test("with their program headers counted there show every entry", arguments: [0, 70_000])
  func extended(further: Int) throws {
    let path = try Self.library.get()
    var editor = ELFEditor(try Fixture.bytes(of: path))
    let headers = editor.segments
    editor.put(UInt64(editor.bytes.count), 8, at: 32)
    // Headers of no type come first, so a reader that counts too few sees nothing else.
    editor.bytes += [UInt8](repeating: 0, count: further * 56) + headers
    editor.put(0xffff, 2, at: 56)
    editor.put(UInt64(further + headers.count / 56), 4, at: Int(editor.table) + 44)
    let extended = try Fixture.write(editor.bytes, as: "extended-\(further)")
    #expect(FileAnswer(of: extended) == FileAnswer(of: path))
  }

  @Test(
    "with that number a lie have a problem",
    arguments: [
      (0, .outOfImage), (1, .outOfImage), (0xffff, .truncated), (1 << 20, .malformed),
      (.max, .malformed),
    ] as [(UInt32, ImageError.Code)])
  func extendedLie(count: UInt32, code: ImageError.Code) throws {
    var editor = ELFEditor(try Fixture.bytes(of: Self.library.get()))
    editor.put(0xffff, 2, at: 56)
    editor.put(UInt64(count), 4, at: Int(editor.table) + 44)
    let path = try Fixture.write(editor.bytes, as: "miscounted-\(count)")
    #expect(FileAnswer(of: path) == .refused(code))
  }
}
