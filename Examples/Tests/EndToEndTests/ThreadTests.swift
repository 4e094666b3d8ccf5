import Foundation
import Testing

/// Several threads in the loader, in factories and in the Hive at once. A host that hangs is ended by
/// its alarm, and that is a failure.
@Suite struct ThreadTests {
  /// Says how often its factory ran; the factory takes its time.
  static let singleton = """
    #define _GNU_SOURCE
    #include <BeeHive.h>
    #include "contract.h"
    #include <stdio.h>
    #include <unistd.h>
    static int made;
    static char words[32];
    static const char *say(void) { return words; }
    static struct speaker speaker = { say };
    static void *create(const beehive_context *context) {
      usleep(20000);
      snprintf(words, sizeof words, "made %d", __atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST));
      return &speaker;
    }
    BEEHIVE_SERVICE_FACTORY(Speaker, Made, create, 0, BEEHIVE_SCOPE("singleton"));
    """

  @Test("Threads that race for a C singleton get the one that its factory made once")
  func cSingleton() throws {
    let workshop = try Workshop()
    try workshop.library("singleton", Self.singleton)
    let said = try Program.host(
      "open=./libsingleton.so", "race-speak=Speaker", "speak=Speaker", in: workshop)
    #expect(said == ["all heard: made 1", "made 1"])
  }

  @Test("Threads that race for a Swift singleton get the one that its accessor made once")
  func swiftSingleton() throws {
    let said = try Program.host(
      "open=\(Program.product("SwiftPlugin"))", "race-greet", "greet")
    #expect(said == ["1 instance: hello, made 1", "hello, made 1"])
  }

  @Test("A library with a million relocations is opened while another thread asks")
  func relocations() throws {
    let workshop = try Workshop()
    // Two symbols in turn, so that the loader looks each of them up. The entries' own pointers are symbols too, or they
    // would be relocated before all others.
    let names = (0..<8).map { "Late.Module\($0)" }
    let texts = names.enumerated().map { "text\($0): .asciz \"\($1)\"" }
    let globals = names.indices.map { ".global text\($0)" }
    let pointers = names.indices.map { ".quad text\($0)" }
    let assembler = try workshop.folder.write(
      """
      .section .rodata
      \((globals + texts).joined(separator: "\n"))
      .section .data.rel,"aw"
      .balign 8
      .rept 500000
      .quad malloc
      .quad free
      .endr
      .section BeehiveMods,"awR"
      .balign 8
      \(pointers.joined(separator: "\n"))
      .section .note.GNU-stack

      """, as: "relocated.s")
    try workshop.library("relocated", from: [assembler.path])
    // If one processor does all the work, it may open the library and never turn to the other thread.
    var said: [String] = []
    for _ in 0..<20 where said.first != "asked meanwhile" {
      said = try Program.host(
        "touch", "open-while-asking=./librelocated.so", "count", in: workshop)
      #expect(said.last == "0 bound, 8 accepted, 0 rejected")
    }
    #expect(said.first == "asked meanwhile")
  }

  /// A library whose constructor uses the Hive, as its table and its factory do.
  static let entrant = """
    #include <BeeHive.h>
    #include "contract.h"
    static const char *say(void) { contract_call_host(); return "said"; }
    static struct speaker speaker = { say };
    static void *create(const beehive_context *context) { contract_call_host(); return &speaker; }
    static void destroy(void *object) { contract_call_host(); }
    BEEHIVE_SERVICE_FACTORY(Speaker, Made, create, destroy, BEEHIVE_SCOPE("singleton"));
    BeeHiveMod(Entrant.Module);
    """
  static let constructor = """
    __attribute__((constructor)) static void constructed(void) { contract_call_host(); }
    __attribute__((destructor)) static void destructed(void) { contract_call_host(); }
    """
  /// Runs before the anchor: the Hive finds the image before it has announced itself.
  static let earlyConstructor = """
    __attribute__((constructor(101))) static void constructed(void) { contract_call_host(); }
    """

  @Test(
    "A constructor that uses the Hive, while another thread does the same",
    arguments: [constructor, earlyConstructor])
  func inversion(constructor: String) throws {
    let workshop = try Workshop()
    try workshop.library("entrant", Self.entrant + constructor, "-Wl,--allow-shlib-undefined")
    let said = try Program.host(
      "alarm=300", "touch", "call-back", "reopen-while-asking=./libentrant.so", "speak=Speaker",
      "open=./libentrant.so", "speak=Speaker", in: workshop)
    #expect(said.first == "asked meanwhile")
    #expect(said.last == "said")
  }

  @Test("A constructor that uses the Hive, while another thread takes a service of its library")
  func serviceDuringConstructor() throws {
    let workshop = try Workshop()
    let constructor = """

      __attribute__((constructor)) static void constructed(void) { contract_call_host(); }
      """
    try workshop.library("entrant", Source.speaker() + constructor, "-Wl,--allow-shlib-undefined")
    let said = try Program.host(
      "alarm=120", "touch", "speak-while-constructing=./libentrant.so", in: workshop)
    #expect(said == ["hello"])
  }

  @Test("A constructor is the first to use the Hive, while another thread is")
  func firstTouch() throws {
    let workshop = try Workshop()
    try workshop.library("entrant", Self.entrant + Self.earlyConstructor)
    let said = try Program.host(
      "alarm=120", "touch-from-constructor=./libentrant.so", "count", in: workshop)
    #expect(said == ["both touched it", "1 bound, 1 accepted, 0 rejected"])
  }

  @Test("A constructor waits for a thread that uses the Hive") func waitingConstructor() throws {
    let workshop = try Workshop()
    try workshop.library("entrant", Self.entrant + Self.earlyConstructor)
    let said = try Program.host(
      "alarm=120", "touch", "call-back-thread", "open=./libentrant.so", "count", in: workshop)
    #expect(said == ["1 bound, 1 accepted, 0 rejected"])
  }

  @Test("Factories of C that use the Hive run under no lock") func cFactory() throws {
    let workshop = try Workshop()
    try workshop.library("entrant", Self.entrant)
    let said = try Program.host(
      "alarm=120", "open=./libentrant.so", "call-back", "speak=Speaker", "race-speak=Speaker",
      in: workshop)
    #expect(said == ["said", "all heard: said"])
  }

  @Test("Factories that open libraries run under no lock") func openingFactory() throws {
    let workshop = try Workshop()
    try workshop.library("entrant", Self.entrant)
    try workshop.library("other", Source.speaker("Other", says: "other"))
    let said = try Program.host(
      "alarm=120", "open=./libentrant.so", "call-back-open=./libother.so", "race-speak=Speaker",
      "speak=Other", in: workshop)
    #expect(said == ["all heard: said", "other"])
  }

  @Test("Factories of the host that use the Hive run under no lock") func hostFactory() throws {
    #expect(try Program.host("alarm=120", "register-entrant", "paint") == ["red"])
  }
}
