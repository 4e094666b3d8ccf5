// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// The macros as the package manager builds them, against swift-syntax: what they expand to, and all
// that `Examples/Tests/ClientTests` asks of the macros that the toolchain's own SwiftSyntax expands.
// A package of its own, because swift-syntax takes minutes, and because a test that imports a macro
// makes the package manager build every test of its package for the compiler's side.
//
// SWIFT_SYNTAX names one version of swift-syntax, of those that the macros are for; without it, the newest.
// The range leaves the oldest out, which the package manager would keep once it has it.
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
    // A plugin that no C file is part of, and a host that opens it.
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
    // The tests run the tool too. It is a dependency of the host, which has no use for it, since one
    // of the tests would build it for the compiler's side once more.
    .executableTarget(
      name: "Host",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "section-dump", package: "swift-beehive"),
      ]),

    // The sources of BeeHiveAnnotationsPlugin, by a link: no product can hold a macro's own module.
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
