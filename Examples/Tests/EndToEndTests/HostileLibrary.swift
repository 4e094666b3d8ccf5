/// A library whose records are each wild in one field, or lead to a structure that is. A good record follows each.
///
/// It has every field with every wild value of the field's type. So the tests find a new field that nothing checks.
struct HostileLibrary {
  /// One record that no one should trust.
  struct Wild {
    let number: Int
    /// The field and its value.
    let about: String
    /// The host's step that uses the record.
    let step: String
    /// Definitions in C; `@` is the record's number.
    let source: String

    /// Returns whether a line says that the record is bad.
    func isNamed(in line: String) -> Bool {
      line.contains("BeehiveRecords[\(number * 2)]") && !line.hasPrefix("bound")
    }
  }

  private(set) var wilds: [Wild] = []

  init() {
    addHeads()
    addStructures()
  }

  /// The library's text.
  var source: String {
    let records = wilds.map { wild in
      wild.source.replacing("@", with: "\(wild.number)")
        + "\nBEEHIVE_SERVICE(G\(wild.number), T, &good);\n"
    }
    return Self.prologue + records.joined()
  }

  // MARK: Values

  /// Outside every image.
  private static let nowhere = ["0x1", "0x1234", "-8", "0x8000000000000000", "0x7fffffffffff0000"]
  /// Addresses that are no code, also in parts of images that may not be executed.
  private static let noCode = nowhere + ["&number", "&environ", "&good"]
  /// Sizes and versions of a structure that cannot be.
  private static let heads = ["0", "0x1", "-1", "0x100000000", "0x200000018", "0x100000004"]
  private static let counts = ["-1", "0x10000000000", "0x7fffffffffffffff"]

  private static let prologue =
    Source.record + """
      #include <BeeHive.h>
      #include "contract.h"
      extern char **environ;
      static int number = 1;
      int *use_number(void) { return &number; }
      static const char *say(void) { return "good"; }
      static const struct speaker good = { say };
      static const beehive_module_operations no_operations;
      #define V(value) ((const void *)(value))
      #define OF(type) V(sizeof(type) | 1ull << 32)

      """

  // MARK: Records

  private mutating func addHeads() {
    let text = #""W@\0T\0""#
    func head(
      version: String = "1", kind: String = "2", offset: String = "32", accessor: String = "0",
      context: String = "0", text: String = text
    ) -> String {
      "static const struct head w@ RECORD = {96, \(version), \(kind), 0, \(offset), V(\(accessor)), "
        + "V(\(context)), \(text)};"
    }
    for value in ["0", "2", "0xffff"] { add("version \(value)", head(version: value)) }
    for value in ["0", "99", "0x7fff"] { add("kind \(value)", head(kind: value)) }
    for value in ["0", "31", "96", "97", "0xffffffff"] {
      add("text offset \(value)", head(offset: value))
    }
    for value in Self.noCode { add("accessor \(value)", head(accessor: value)) }
    let texts = [
      "{[0 ... 63] = 'x'}", #""""#, #""W@\xff\0""#, #""W@\0T\xff\0""#, #""W@\0T\0abi\0""#,
      #""W@\0T\0=\0""#, #""W@\0T\0abi=none\0""#, #""W@\0T\0scope=never\0""#,
      #""W@\0T\0priority=99999999999999999999\0""#, #""W@\0T\0abi=\xff\0""#,
    ]
    for value in texts { add("text \(value)", head(text: value)) }
    for (kind, abi) in [(1, "c-module"), (2, "c-table"), (2, "c-factory"), (3, "c-target")] {
      for value in Self.nowhere + ["0"] {
        let text = #""W@\0T\0abi=\#(abi)\0action=go() -> String\0""#
        add("\(abi) \(value)", head(kind: "\(kind)", context: value, text: text))
      }
    }
    for value in Self.nowhere + ["0"] {
      let text = #""app://w@\0T\0abi=c-route\0""#
      add("c-route \(value)", head(kind: "4", context: value, text: text), step: "why=app://w@")
    }
  }

  // MARK: Structures

  /// A structure of words, each with the values that it must not have.
  private struct Structure {
    let abi: String
    let kind: Int
    let step: String
    let words: [(good: String, wild: [String])]
    /// Definitions that the structure leads to.
    var before = ""
  }

  private static let structures = [
    Structure(
      abi: "c-table", kind: 2, step: "speak=W@",
      words: [
        ("OF(beehive_service_table)", heads), ("sizeof good", counts), ("&good", nowhere + ["0"]),
      ]),
    Structure(
      abi: "c-factory", kind: 2, step: "speak=W@",
      words: [("OF(beehive_service_factory)", heads), ("say", noCode + ["0"]), ("say", noCode)]),
    Structure(
      abi: "c-module", kind: 1, step: "entries",
      words: [
        ("OF(beehive_module_table)", heads), ("48", counts), ("&no_operations", nowhere + ["0"]),
      ]),
    Structure(
      abi: "c-target", kind: 3, step: "why=W@.go",
      words: [
        ("OF(beehive_target_table)", heads), ("16", counts + ["0", "8"]), ("1", counts),
        ("actions@", nowhere + ["0"]),
      ], before: "static const void *const actions@[] = {\"go\", V(say)};\n"),
    Structure(
      abi: "c-route", kind: 4, step: "why=app://w@",
      words: [("OF(beehive_route_table)", heads), ("say", noCode + ["0"])]),
  ]

  private mutating func addStructures() {
    for structure in Self.structures {
      for (position, word) in structure.words.enumerated() {
        for value in word.wild {
          var words = structure.words.map(\.good)
          words[position] = value
          let name = structure.kind == 4 ? "app://w@" : "W@"
          add(
            "\(structure.abi) word \(position) \(value)",
            structure.before + "static const void *const s@[] = {"
              + words.map { "V(\($0))" }.joined(separator: ", ") + "};\n"
              + "static const struct head w@ RECORD = {96, 1, \(structure.kind), 0, 32, 0, s@, "
              + #""\#(name)\0T\0abi=\#(structure.abi)\0action=go() -> String\0"};"#,
            step: structure.step)
        }
      }
    }
    for field in ["set_up", "initialize", "splash", "event", "tear_down", "unmount"] {
      for value in Self.noCode {
        add(
          "operation \(field) \(value)",
          "static const beehive_module_operations o@ = { .\(field) = (void *)(\(value)) };\n"
            + "BEEHIVE_MODULE(W@, &o@);",
          step: "entries")
      }
    }
    for (position, values) in [(0, Self.nowhere + ["0"]), (1, Self.noCode + ["0"])] {
      for value in values {
        var words = ["\"go\"", "say"]
        words[position] = value
        add(
          "action word \(position) \(value)",
          "static const void *const a@[] = {V(\(words[0])), V(\(words[1]))};\n"
            + "static const void *const s@[] = {OF(beehive_target_table), V(16), V(1), a@};\n"
            + "static const struct head w@ RECORD = {96, 1, 3, 0, 32, 0, s@, "
            + #""W@\0T\0abi=c-target\0action=go() -> String\0"};"#,
          step: "why=W@.go")
      }
    }
  }

  private mutating func add(_ about: String, _ source: String, step: String = "speak=W@") {
    let number = wilds.count
    wilds.append(
      Wild(
        number: number, about: about, step: step.replacing("@", with: "\(number)"), source: source))
  }
}
