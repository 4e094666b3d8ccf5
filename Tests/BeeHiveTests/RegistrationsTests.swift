import BeeHive
import Foundation
import Testing
import Yams

struct OrchardModule: Module {
  init() {}
}

protocol Orchard: Sendable {}

struct AppleOrchard: Orchard, Injectable {
  init(hive: Hive) {}
}

struct Desert: Injectable {
  init(hive: Hive) {}
}

@Suite("Registrations from files")
struct RegistrationsTests {
  private let hive = Hive()

  private static let json = """
    {"moduleClasses": [{"moduleClass": "BeeHiveTests.OrchardModule", "moduleLevel": 0,
                        "modulePriority": 7}],
     "services": [{"service": "BeeHiveTests.Orchard", "impl": "BeeHiveTests.AppleOrchard",
                   "scope": "singleton"}],
     "URLGlobalScheme": "orchard"}
    """

  private static let modulesPropertyList = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><dict><key>moduleClasses</key><array><dict>
    <key>moduleClass</key><string>BeeHiveTests.OrchardModule</string>
    <key>moduleLevel</key><integer>0</integer><key>modulePriority</key><integer>7</integer>
    </dict></array></dict></plist>
    """

  private static let servicesPropertyList = """
    <?xml version="1.0" encoding="UTF-8"?>
    <plist version="1.0"><array><dict>
    <key>service</key><string>BeeHiveTests.Orchard</string>
    <key>impl</key><string>BeeHiveTests.AppleOrchard</string>
    </dict></array></plist>
    """

  private func expectOrchard(_ hive: Hive) throws {
    try hive.validate()
    #expect(hive.entries.map(\.name) == ["BeeHiveTests.OrchardModule", "BeeHiveTests.Orchard"])
    #expect(hive.entries.first?.attributes.priority == 7)
    #expect(try hive.service((any Orchard).self) is AppleOrchard)
  }

  @Test("JSON declares modules and services in one file; one that is given twice is read once")
  func twice() throws {
    let file = try JSONDecoder().decode(Registrations.self, from: Data(Self.json.utf8))
    for _ in 0..<2 { try hive.register(file, file: "/etc/app/hive.json") }
    try expectOrchard(hive)
    #expect(file.urlGlobalScheme == "orchard")
    #expect(hive.entries.first?.source.description == "hive.json moduleClasses[0]")
  }

  @Test("YAML and BeeHive's two property lists declare the same")
  func otherDecoders() throws {
    let text = """
      moduleClasses:
        - {moduleClass: BeeHiveTests.OrchardModule, moduleLevel: basic, modulePriority: 7}
      services:
        - {service: BeeHiveTests.Orchard, impl: BeeHiveTests.AppleOrchard}
      """
    let yaml = try YAMLDecoder().decode(Registrations.self, from: text)
    let lists = try [Self.modulesPropertyList, Self.servicesPropertyList].map {
      try PropertyListDecoder().decode(Registrations.self, from: Data($0.utf8))
    }
    for files in [[yaml], lists] {
      let hive = Hive()
      for (number, file) in files.enumerated() { try hive.register(file, file: "\(number)") }
      try expectOrchard(hive)
    }
  }

  @Test(
    "a wrong value names its key path",
    arguments: [
      (
        #"{"moduleClasses": [{"moduleClass": "A"}, {"moduleClass": 3}]}"#,
        "moduleClasses[1].moduleClass"
      ),
      (
        #"{"moduleClasses": [{"moduleClass": "A", "moduleLevel": 7}]}"#,
        "moduleClasses[0].moduleLevel"
      ),
      (#"{"moduleClasses": [{"moduleLevel": 1}]}"#, "moduleClasses[0].moduleClass"),
      (#"{"services": [{"service": "A", "impl": ""}]}"#, "services[0].impl"),
      (#"{"services": [{"service": "A", "impl": "B", "scope": "ever"}]}"#, "services[0].scope"),
      (#"[{"service": "A", "impl": "B"}, {"service": "A"}]"#, "[1].impl"),
    ])
  func wrongValue(json: String, path: String) {
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Registrations.self, from: Data(json.utf8))
    }
    #expect(error?.keyPath == path)
  }

  @Test("what does not conform, or does not exist, is listed with the file and the place")
  func unfit() throws {
    let file = Registrations(
      moduleClasses: [.init(moduleClass: "BeeHiveTests.Nowhere")],
      services: [.init(service: "BeeHiveTests.Orchard", impl: "BeeHiveTests.Desert")])
    try hive.register(file, file: "hive.json")
    let states = hive.entries.map(\.description)
    #expect(states.count == 2)
    #expect(states.first?.hasPrefix("unbound") == true)
    #expect(states.last?.hasPrefix("rejected") == true)
    #expect(states.last?.contains("hive.json services[0]") == true)
  }

}
