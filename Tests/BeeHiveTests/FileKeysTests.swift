import BeeHive
import Foundation
import Testing
import Yams

/// A decoder that a host may use.
enum FileDecoder: String, CaseIterable, CustomTestStringConvertible {
  case json, yaml

  var testDescription: String { rawValue }

  /// Decodes a text. Every JSON document is a YAML document too.
  func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
    switch self {
    case .json: try JSONDecoder().decode(type, from: Data(text.utf8))
    case .yaml: try YAMLDecoder().decode(type, from: text)
    }
  }
}

@Suite("What a file says in vain")
struct FileKeysTests {
  @Test(
    "an unknown key of registrations is an error with its key path, and says what may be meant",
    arguments: FileDecoder.allCases,
    [
      (#"{"moduleClases": [{"moduleClass": "A"}]}"#, "moduleClases", "moduleClasses"),
      (
        #"{"moduleClasses": [{"moduleClass": "A"}, {"moduleClass": "B", "require": ["x"]}]}"#,
        "moduleClasses[1].require", "requires"
      ),
      (
        #"{"services": [{"service": "A", "impl": "B", "scop": "weak"}]}"#, "services[0].scop",
        "scope"
      ),
      (#"[{"service": "A", "impl": "B", "Priority ": 3}]"#, "[0].Priority ", "priority"),
    ])
  func unknownKey(decoder: FileDecoder, file: (text: String, path: String, meant: String)) {
    let error = #expect(throws: DecodingError.self) {
      try decoder.decode(Registrations.self, file.text)
    }
    #expect(error?.keyPath == file.path)
    #expect("\(error as Any)".contains("did you mean \(file.meant)?"))
  }

  @Test("modules and services say priority alike; BeeHive's words mean the same")
  func sameWords() throws {
    let decoder = FileDecoder.json
    let file = try decoder.decode(
      Registrations.self, #"{"moduleClasses": [{"moduleClass": "A", "priority": 9, "level": 0}]}"#)
    #expect(file.moduleClasses == [.init(moduleClass: "A", moduleLevel: .basic, modulePriority: 9)])
    let again = try decoder.decode(
      Registrations.self, String(decoding: JSONEncoder().encode(file), as: UTF8.self))
    #expect(again == file)
    let error = #expect(throws: DecodingError.self) {
      try decoder.decode(
        Registrations.self,
        #"{"moduleClasses": [{"moduleClass": "A", "priority": 9, "modulePriority": 9}]}"#)
    }
    #expect(error?.keyPath == "moduleClasses[0].priority")
  }

  @Test(
    "null in a configuration names its key, from inside arrays and objects too",
    arguments: FileDecoder.allCases,
    [
      (#"{"port": null}"#, "port"), (#"{"hosts": [1, null]}"#, "hosts[1]"),
      (#"{"server": {"hosts": ["a", {"name": null}]}}"#, "server.hosts[1].name"),
    ])
  func null(decoder: FileDecoder, file: (text: String, path: String)) {
    let error = #expect(throws: DecodingError.self) {
      try decoder.decode([String: ConfigurationValue].self, file.text)
    }
    #expect(error?.keyPath == file.path)
  }

  @Test("every other form of a configuration is read as before", arguments: FileDecoder.allCases)
  func forms(decoder: FileDecoder) throws {
    let text = #"{"a": [1, 2.5, "x", true, [], {}], "b": {"c": {"d": [["e"]]}}}"#
    let values = try decoder.decode([String: ConfigurationValue].self, text)
    #expect(values["a"] == [1, 2.5, "x", true, [], [:]])
    #expect(values["b"] == ["c": ["d": [["e"]]]])
  }
}
