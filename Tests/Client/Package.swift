// swift-tools-version: 6.2
import PackageDescription

// Somebody else's package, which takes the project by version: ClientTests of Tests/ProjectTests says from
// where.
let package = Package(
  name: "Client",
  dependencies: [.package(url: Context.environment["SWIFT_BEEHIVE"] ?? "", from: "1.0.0")],
  targets: [
    .executableTarget(
      name: "Client",
      dependencies: [
        "CModules", "SwiftModules",
        .product(name: "BeeHive", package: "swift-beehive"),
      ]),
    // Both end in the executable itself, as objects that nothing refers to by name.
    .target(
      name: "CModules", dependencies: [.product(name: "CBeeHive", package: "swift-beehive")]),
    .target(
      name: "SwiftModules",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "CBeeHive", package: "swift-beehive"),
      ]),
  ],
  cLanguageStandard: .c11
)
