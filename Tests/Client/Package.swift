// swift-tools-version: 6.2
import PackageDescription

// Somebody else's package, which takes the project by version. ClientTests of Tests/ProjectTests sets its source.
// MACROS is the trait that provides the macros. MACROS_LIBRARY is the library that expands them, if it is not built
// with the package.
let macros = Context.environment["MACROS"]
let library = Context.environment["MACROS_LIBRARY"].map { ["-load-plugin-library", $0] } ?? []
let beehive = Target.Dependency.product(name: "BeeHive", package: "swift-beehive")
let header = Target.Dependency.product(name: "CBeeHive", package: "swift-beehive")

let package = Package(
  name: "Client",
  dependencies: [
    .package(
      url: Context.environment["SWIFT_BEEHIVE"] ?? "",
      from: Version(stringLiteral: Context.environment["SWIFT_BEEHIVE_VERSION"] ?? "0.0.0"),
      traits: macros.map { [.trait(name: $0)] } ?? [.defaults])
  ],
  targets: [
    .executableTarget(name: "Client", dependencies: ["CModules", "SwiftModules", beehive]),
    // Both end in the executable itself, as objects that nothing refers to by name.
    .target(name: "CModules", dependencies: [header]),
    .target(name: "SwiftModules", dependencies: [beehive, header]),
  ],
  cLanguageStandard: .c11
)

if macros != nil {
  package.products = [.library(name: "Annotated", type: .dynamic, targets: ["Annotated"])]
  package.targets = [
    .target(
      name: "Annotated",
      dependencies: [
        beehive, .product(name: "BeeHiveAnnotations", package: "swift-beehive"),
      ],
      swiftSettings: library.isEmpty ? [] : [.unsafeFlags(library)])
  ]
}
