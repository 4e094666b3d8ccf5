// swift-tools-version: 6.2
import PackageDescription

// A package of its own: only who measures needs these dependencies. `measure` lays their checkouts here.
let package = Package(
  name: "peers",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-beehive", path: "../.."),
    .package(path: ".build/Swinject"),
    .package(path: ".build/Factory"),
  ],
  targets: [
    .executableTarget(
      name: "peers",
      dependencies: [
        .product(name: "BeeHive", package: "swift-beehive"),
        .product(name: "Swinject", package: "Swinject"),
        .product(name: "FactoryKit", package: "Factory"),
      ])
  ]
)
