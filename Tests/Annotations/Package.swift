// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// Tests the macros as the package manager builds them, against swift-syntax. It tests their expansions, and all
// that `Examples/Tests/ClientTests` tests of the macros that the toolchain's own SwiftSyntax expands.
// It is a package of its own, because swift-syntax takes minutes, and because a test that imports a macro
// makes the package manager build every test of its package for the compiler's side.
//
// SWIFT_SYNTAX names one of the supported versions of swift-syntax. Without it, the newest is used.
// The range leaves out the oldest, because the package manager would keep it once it has it.
let version = Context.environment["SWIFT_SYNTAX"].flatMap(Version.init)

func swiftSyntax(_ products: String...) -> [Target.Dependency] {
  products.map { .product(name: $0, package: "swift-syntax") }
}

let package = Package(
  name: "Annotations",
  products: [
    .library(name: "AnnotatedPlugin", type: .dynamic, targets: ["AnnotatedPlugin"]),
    .library(name: "RoutingPlugin", type: .dynamic, targets: ["RoutingPlugin"]),
  ],
  dependencies: [
    .package(name: "swift-beehive", path: "../..", traits: ["Annotations"]),
    .package(
      url: "https://github.com/swiftlang/swift-syntax",
      version.map { $0..<Version($0.major, $0.minor, $0.patch + 1) } ?? "603.0.0"..<"604.0.0"),
  ],
  targets: [
    // A plugin without C files, and a host that opens it.
    .target(
      name: "AnnotatedPlugin",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "BeeHiveAnnotations", package: "swift-beehive"),
      ]),
    .target(
      name: "RoutingPlugin",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "BeeHiveAnnotations", package: "swift-beehive"),
      ]),
    // The tests run the tool too. It is a dependency of the host, although the host does not use it.
    // As a dependency of the tests it would be built once more, for the compiler's side.
    .executableTarget(
      name: "Host",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "section-dump", package: "swift-beehive"),
      ]),

    // The sources of BeeHiveAnnotationsPlugin, through a link: no product can hold a macro's own module.
    .macro(
      name: "MacrosUnderTest",
      dependencies: swiftSyntax(
        "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax",
        "SwiftSyntaxBuilder", "SwiftSyntaxMacros"),
      swiftSettings: [.define("Annotations")]),
    .testTarget(
      name: "AnnotationsTests",
      dependencies: [
        "MacrosUnderTest", .product(name: "BeeHiveAnnotations", package: "swift-beehive"),
      ]
        + swiftSyntax(
          "SwiftSyntax", "SwiftSyntaxMacroExpansion", "SwiftSyntaxMacros",
          "SwiftSyntaxMacrosGenericTestSupport"),
      swiftSettings: [.define("SWIFTPM_PLUGIN")]),
  ]
)

for target in package.targets {
  target.swiftSettings =
    (target.swiftSettings ?? []) + [
      .enableUpcomingFeature("ExistentialAny"),
      .enableUpcomingFeature("InternalImportsByDefault"),
      .enableUpcomingFeature("MemberImportVisibility"),
      .strictMemorySafety(),
      .treatAllWarnings(as: .error),
    ]
}
