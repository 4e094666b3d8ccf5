// swift-tools-version: 6.2
import PackageDescription

// A client as users write it: it switches the trait on, annotates, and builds a plugin that no C file
// is part of. `Scripts/check-macros` builds it and lets the host open the plugin.
let package = Package(
  name: "AnnotatedClient",
  products: [.library(name: "AnnotatedPlugin", type: .dynamic, targets: ["AnnotatedPlugin"])],
  dependencies: [.package(name: "swift-beehive", path: "../..", traits: ["Annotations"])],
  targets: [
    .target(
      name: "AnnotatedPlugin",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "BeeHiveAnnotations", package: "swift-beehive"),
      ]),
    .executableTarget(
      name: "Host", dependencies: [.product(name: "BeeHive", package: "swift-beehive")]),
  ]
)

for target in package.targets {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
