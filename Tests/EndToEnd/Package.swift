// swift-tools-version: 6.2
import PackageDescription

// Processes that use the real libBeeHive.so, and the tests that run them. A package of its own,
// because inside one package SwiftPM links targets into each product, and a process would have
// several registries. The plugins are products that no host depends on: hosts open them.
let beehive = Target.Dependency.product(name: "BeeHive", package: "swift-beehive")
let annotations = Target.Dependency.product(name: "CBeeHive", package: "swift-beehive")
let contract = Target.Dependency.product(name: "Contract", package: "Contract")

let package = Package(
  name: "EndToEnd",
  products: [
    .library(name: "Probe", type: .dynamic, targets: ["Probe", "Steps"]),
    .library(name: "SwiftPlugin", type: .dynamic, targets: ["SwiftPlugin"]),
    .library(name: "LatePlugin", type: .dynamic, targets: ["LatePlugin"]),
  ],
  dependencies: [
    .package(name: "swift-beehive", path: "../.."),
    .package(path: "Contract"),
  ],
  targets: [
    // What hosts can be told to do.
    .target(name: "Steps", dependencies: [beehive, contract]),
    .executableTarget(name: "SwiftHost", dependencies: ["Steps"]),
    // A host that knows nothing of Swift: it opens libBeeHive.so, and Probe to talk to it.
    .executableTarget(name: "CHost", linkerSettings: [.linkedLibrary("dl")]),
    .target(name: "Probe", dependencies: ["Steps"]),

    .target(name: "SwiftPlugin", dependencies: [beehive, annotations, contract]),
    .target(name: "LatePlugin", dependencies: [beehive, annotations, contract]),

    // The tool is built beside the hosts, for tests that compare what both read.
    .testTarget(
      name: "EndToEndTests",
      dependencies: [.product(name: "section-dump", package: "swift-beehive")]),
  ],
  cLanguageStandard: .c11
)

for target in package.targets where target.name != "CHost" {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
