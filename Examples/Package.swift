// swift-tools-version: 6.2
import PackageDescription

// Two hosts, in Swift and in C, and three libraries that they load with dlopen; a desk that answers URLs.
// None of the three is a dependency of a host; they only happen to be built together.
let package = Package(
  name: "Examples",
  products: [
    .executable(name: "Host", targets: ["Host"]),
    .executable(name: "CHost", targets: ["CHost"]),
    .executable(name: "Desk", targets: ["Desk"]),
    .library(name: "Discounts", type: .dynamic, targets: ["Discounts"]),
    .library(name: "Greetings", type: .dynamic, targets: ["Greetings"]),
    .library(name: "OldTill", type: .dynamic, targets: ["OldTill"]),
  ],
  dependencies: [
    .package(name: "swift-beehive", path: ".."),
    .package(path: "Libraries"),
  ],
  targets: [
    // The Store is linked and never named in the host's code.
    .executableTarget(
      name: "Host",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "Contracts", package: "Libraries"),
        .product(name: "CContracts", package: "Libraries"),
        .product(name: "Store", package: "Libraries"),
      ]),
    // Answers calls from outside, by URL.
    .executableTarget(
      name: "Desk", dependencies: [.product(name: "BeeHive", package: "swift-beehive")],
      exclude: ["november.json"]),
    // Links the same libBeeHive.so and never names Swift.
    .executableTarget(
      name: "CHost",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "CBeeHive", package: "swift-beehive"),
        .product(name: "CContracts", package: "Libraries"),
      ]),
    // C needs headers alone.
    .target(
      name: "Discounts",
      dependencies: [
        .product(name: "CBeeHive", package: "swift-beehive"),
        .product(name: "CContracts", package: "Libraries"),
      ]),
    // Swift writes its entry itself; CBeeHive brings the anchor that announces the image.
    .target(
      name: "Greetings",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "CBeeHive", package: "swift-beehive"),
        .product(name: "Contracts", package: "Libraries"),
      ]),
    // Depends on nothing of ours, not even a header.
    .target(name: "OldTill"),
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
