// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// The tests of the macros: what they expand to, what they refuse, and a client as users write it. A
// package of its own, because it builds swift-syntax, and because a test that imports a macro makes
// the package manager build every test of its package for the compiler's side. `Scripts/check-macros`
// runs it.
//
// SWIFT_SYNTAX names one version of swift-syntax, of those that the macros are for.
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
      version.map { $0..<Version($0.major, $0.minor, $0.patch + 1) } ?? "600.0.1"..<"604.0.0"),
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
    .executableTarget(
      name: "Host", dependencies: [.product(name: "BeeHive", package: "swift-beehive")]),

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
          "SwiftSyntaxMacrosGenericTestSupport")),
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
