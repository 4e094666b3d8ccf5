// swift-tools-version: 6.2
import PackageDescription

// A Hive's routes and actions over HTTP: what is marked remote, and nothing else. A package of its own,
// so that nobody pays for SwiftNIO who does not serve.
let package = Package(
  name: "Server",
  products: [.executable(name: "Server", targets: ["Server"])],
  dependencies: [
    .package(name: "swift-beehive", path: "../.."),
    .package(url: "https://github.com/apple/swift-nio", from: "2.80.0"),
  ],
  targets: [
    .target(
      name: "HTTPEntry",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
    .executableTarget(
      name: "Server",
      dependencies: ["HTTPEntry", .product(name: "BeeHive", package: "swift-beehive")]),
    .testTarget(
      name: "HTTPEntryTests",
      dependencies: [
        "HTTPEntry",
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
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
