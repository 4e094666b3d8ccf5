// swift-tools-version: 6.2
import PackageDescription

// Serves the remote routes and actions of a Hive over HTTP, and nothing else. A package of its own, so that only those
// who serve pay for Hummingbird.
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let core = Target.Dependency.product(name: "HummingbirdCore", package: "hummingbird")
let beehive = Target.Dependency.product(name: "BeeHive", package: "swift-beehive")
let nio = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")

let package = Package(
  name: "Server",
  products: [.executable(name: "Server", targets: ["Server"])],
  dependencies: [
    .package(name: "swift-beehive", path: "../.."),
    .package(path: "../Adapters"),
    // Without the traits, which add configuration files and all of Foundation.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0", traits: []),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
    .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
  ],
  targets: [
    .target(
      name: "HTTPEntry",
      dependencies: [
        beehive, hummingbird, core, nio, httpTypes, logging, lifecycle,
        .product(name: "Adapters", package: "Adapters"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ]),
    .executableTarget(
      name: "Server", dependencies: ["HTTPEntry", beehive, httpTypes, logging, lifecycle]),
    .testTarget(
      name: "HTTPEntryTests",
      dependencies: [
        "HTTPEntry", beehive, nio, httpTypes, logging, lifecycle,
        .product(name: "NIOEmbedded", package: "swift-nio"),
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
