// swift-tools-version: 6.2
import PackageDescription

// Sources: what newcomers read. Two hosts, in Swift and in C, three libraries that they load with
// dlopen, and a desk that answers URLs. No library is a dependency of a host; they only happen to be
// built together.
//
// Tests: the end-to-end tests. Fixtures are the hosts that they run and the plugins that those open.
//
// A package of its own, because inside one package SwiftPM links the library into each product, and a
// process would have several registries.
let beehive = Target.Dependency.product(name: "BeeHive", package: "swift-beehive")
let header = Target.Dependency.product(name: "CBeeHive", package: "swift-beehive")
let contracts = Target.Dependency.product(name: "Contracts", package: "Contracts")
let cContracts = Target.Dependency.product(name: "CContracts", package: "Contracts")
let testContracts = Target.Dependency.product(name: "TestContracts", package: "Contracts")

let package = Package(
  name: "Examples",
  products: [
    .executable(name: "Host", targets: ["Host"]),
    .executable(name: "CHost", targets: ["CHost"]),
    .executable(name: "Desk", targets: ["Desk"]),
    .executable(name: "PluginHost", targets: ["PluginHost"]),
    .library(name: "Discounts", type: .dynamic, targets: ["Discounts"]),
    .library(name: "Greetings", type: .dynamic, targets: ["Greetings"]),
    .library(name: "OldTill", type: .dynamic, targets: ["OldTill"]),

    .library(name: "Probe", type: .dynamic, targets: ["Probe", "Steps"]),
    .library(name: "SwiftPlugin", type: .dynamic, targets: ["SwiftPlugin"]),
    .library(name: "LatePlugin", type: .dynamic, targets: ["LatePlugin"]),
  ],
  dependencies: [
    .package(name: "swift-beehive", path: ".."),
    .package(path: "Contracts"),
  ],
  targets: [
    // The Store is linked and never named in the host's code.
    .executableTarget(
      name: "Host",
      dependencies: [
        beehive, contracts, cContracts, .product(name: "Store", package: "Contracts"),
      ]),
    // Answers calls from outside, by URL.
    .executableTarget(name: "Desk", dependencies: [beehive], exclude: ["november.json"]),
    // Loads the good plugins of a folder that Plugins/make makes. Only the plugins name a contract.
    .executableTarget(name: "PluginHost", dependencies: [beehive, contracts]),
    // Links the same libBeeHive.so and never names Swift.
    .executableTarget(name: "CHost", dependencies: [beehive, header, cContracts]),
    // C needs only headers.
    .target(name: "Discounts", dependencies: [header, cContracts]),
    // Swift writes its entry itself; CBeeHive brings the anchor that announces the image.
    .target(name: "Greetings", dependencies: [beehive, header, contracts]),
    // Depends on nothing of ours, not even a header.
    .target(name: "OldTill"),

    // The steps that hosts of tests can run.
    .fixture("Steps", dependencies: ["CModel", beehive, testContracts]),
    // Random calls of the Hive, compared with a model of it.
    .fixture("CModel", dependencies: [header]),
    // Links libBeeHive.so and exports nothing.
    .executableTarget(
      name: "SwiftHost", dependencies: ["Steps"], path: "Tests/Fixtures/SwiftHost"),
    // Links nothing: it opens plugins, libBeeHive.so, and Probe to talk to it, in any order.
    .executableTarget(
      name: "BareHost", path: "Tests/Fixtures/BareHost", linkerSettings: [.linkedLibrary("dl")]),
    .fixture("Probe", dependencies: ["Steps"]),
    .fixture("SwiftPlugin", dependencies: [beehive, header, testContracts]),
    .fixture("LatePlugin", dependencies: [beehive, header, testContracts]),

    // Tests of the hosts' output. The tool is built too, for tests that compare what hosts and tool read.
    .testTarget(
      name: "EndToEndTests",
      dependencies: [.product(name: "section-dump", package: "swift-beehive")]),
    // Tests of clients' code, which compiles or is refused: macros, README's blocks and the test library.
    .testTarget(
      name: "ClientTests",
      dependencies: [
        beehive, header,
        .product(name: "BeeHiveAnnotations", package: "swift-beehive"),
        .product(name: "section-dump", package: "swift-beehive"),
      ],
      plugins: [.plugin(name: "BeeHiveTesting", package: "swift-beehive")]),
  ],
  cLanguageStandard: .c11
)

extension Target {
  /// Returns a library that only hosts of tests use.
  static func fixture(_ name: String, dependencies: [Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Tests/Fixtures/\(name)")
  }
}

for target in package.targets {
  target.cSettings = [
    .treatAllWarnings(as: .error), .enableWarning("all"), .enableWarning("extra"),
  ]
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
