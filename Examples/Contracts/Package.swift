// swift-tools-version: 6.2
import PackageDescription

// The contracts that hosts and plugins share. SwiftPM links the targets of one package into each product that uses
// them, and two copies of a protocol are two protocols. So code that must exist once in a process is a dynamic product
// of its own package.
let package = Package(
  name: "Contracts",
  products: [
    .library(name: "Contracts", type: .dynamic, targets: ["Contracts"]),
    // C structures have no identity of their own, so a header is enough. There is nothing to link.
    .library(name: "CContracts", targets: ["CContracts"]),
    .library(name: "Store", type: .dynamic, targets: ["Store"]),
    // The same for the hosts and plugins of the end-to-end tests.
    .library(
      name: "TestContracts", type: .dynamic, targets: ["TestContracts", "CTestContracts"]),
  ],
  dependencies: [.package(name: "swift-beehive", path: "../..")],
  targets: [
    .target(name: "Contracts"),
    .target(name: "CContracts"),
    .target(
      name: "Store",
      dependencies: ["CContracts", .product(name: "CBeeHive", package: "swift-beehive")]),
    .target(name: "TestContracts"),
    .target(name: "CTestContracts"),
  ],
  cLanguageStandard: .c11
)

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
