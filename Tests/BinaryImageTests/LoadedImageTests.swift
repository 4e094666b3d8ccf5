import BinaryImage
import Foundation
import TestSupport
import Testing

/// A mapped image reads like its file, however its sections were found.
@Suite struct LoadedImageTests {
  @Test(arguments: ["gcc", "clang"], ["bfd", "gold", "lld", "mold"])
  func `The note and the file lead to the same sections`(
    _ compiler: String, _ linker: String
  ) throws {
    try Needs.programs(compiler)
    try Needs.linker(linker)
    let name = "agree_\(compiler)_\(linker)"
    for (source, note) in [
      (Fixture.noted(name), MappedImage.Note.valid), (Fixture.handWritten(name), .none),
    ] {
      let path = try Fixture.library(
        source, as: "\(name)-\(note).so", with: compiler, ["-fuse-ld=\(linker)"])
      let library = try OpenLibrary(path)
      defer { library.close() }
      let image = try ImageList.current().copy(named: path)
      let file = try ELFFile(path: path)
      #expect(image.mapped.note == note)
      #expect(image.identity == file.identity)
      #expect(image.isSettled)
      for section in LoadedImage.sectionNames {
        let stored = try file.sections(named: section).filter { $0.size > 0 }
        let mapped = try image.sections(named: section)
        #expect(mapped.map(\.address) == stored.map(\.address))
        #expect(mapped.map(\.size) == stored.map(\.size))
        #expect(try image.texts(in: section) == file.texts(in: section))
      }
      #expect(try image.texts(in: "BeehiveMods") == Fixture.modules(name))
    }
  }

  @Test func `Typed records are copied whole and never called settled`() throws {
    let path = try Fixture.library(
      """
      #include <BeeHive.h>
      static const int table = 42;
      BEEHIVE_SERVICE(Greeter, EnglishGreeter, &table, BEEHIVE_SCOPE("singleton"));
      """, as: "typed.so")
    let library = try OpenLibrary(path)
    defer { library.close() }
    let image = try ImageList.current().copy(named: path)
    let file = try ELFFile(path: path)
    let mapped = try image.section("BeehiveRecords")
    let stored = try file.section("BeehiveRecords")
    #expect(!image.isSettled)
    #expect(mapped.size == stored.size)
    // The text after the head needs no relocation: it is the same in memory and in the file.
    func text(_ bytes: Span<UInt8>) -> [UInt8] { (32..<bytes.count).map { bytes[$0] } }
    #expect(try image.withBytes(of: mapped, text) == file.withBytes(of: stored, text))
    // The context leads to the same linked address.
    #expect(try image.pointer(at: 24, in: mapped).target == file.pointer(at: 24, in: stored).target)
  }

  @Test func `A pointer of no use is copied with the reason`() throws {
    let path = try Fixture.library(
      """
      extern char **environ;
      static char zeros[16];
      static const char long_text[70000] = { [0 ... 69999] = 'x' };
      __attribute__((used, retain, aligned(8), section("BeehiveMods")))
      static const void *const entries[] = { 0, (void *)1, &environ, zeros, long_text, "Good" };
      """, as: "useless.so")
    let library = try OpenLibrary(path)
    defer { library.close() }
    let image = try ImageList.current().copy(named: path)
    let section = try image.section("BeehiveMods")
    let targets = try image.pointers(of: "BeehiveMods").map(\.target)
    #expect(targets[0] == .null)
    #expect(targets[1] == .foreign(RuntimeAddress(rawValue: 1)))
    #expect("\(targets[2])".hasPrefix("foreign"), "environ belongs to another image")
    var slots: [String] = []
    _ = try image.forEachSlot(of: section, limit: 65536) { _, slot, text in
      if let text {
        slots.append("\(text.count) bytes")
      } else if case .unread(_, let error) = slot {
        slots.append(error.code.rawValue)
      } else {
        slots.append("no text")
      }
      return true
    }
    #expect(slots == ["no text", "no text", "no text", "out-of-image", "unterminated", "4 bytes"])
    #expect(!image.isSettled)
    #expect(throws: ImageError.self) { try image.pointer(at: 41, in: section) }
    #expect(throws: ImageError.self) { try image.sections(named: ".text") }
  }

  @Test func `The program knows its own path`() throws {
    let image = try ImageList.current().copy(at: 0)
    #expect(image.mapped.role == .program)
    #expect(image.identity.path.hasPrefix("/"))
    #expect(image.identity.kind == .executable)
    // All tests of the package are one program; Fixtures/CModules declares a module in it.
    #expect(try image.sections(named: "BeehiveMods").count == 1)
  }

  @Test func `The vdso is passed over`() throws {
    let list = try ImageList.current()
    let position = (0..<list.count).first { list[$0].role == .vdso }
    guard let position else { try Test.cancel("this system maps no vdso") }
    #expect(try list.copy(at: position).sections(named: "BeehiveMods").isEmpty)
  }

  @Test func `Every image of this process can be inspected`() throws {
    let list = try ImageList.current()
    // Other tests load broken libraries, so only the first images count: those of the system.
    for (position, copy) in list.copy(Array(0..<min(list.count, 8))).enumerated() {
      if case .failed(let error) = copy { Issue.record("\(list[position].name): \(error)") }
    }
  }
}
