// swift-tools-version: 6.2
import PackageDescription

// A package of its own, built with `-sanitize=fuzzer,address` by Scripts/fuzz. The readers are links to their sources,
// so that they are compiled with coverage and linked into each target.
let package = Package(
  name: "Fuzz",
  targets: [
    .systemLibrary(name: "CElf", pkgConfig: "libelf", providers: [.apt(["libelf-dev"])]),
    .target(name: "CBeeHive"),
    .target(name: "CImageList", dependencies: ["CElf"]),
    .target(name: "LibC"),
    .target(name: "BinaryImage", dependencies: ["LibC", "CElf", "CImageList"]),
    .target(name: "ObjectFiles", dependencies: ["BinaryImage", "LibC", "CElf"]),
    .target(name: "SwiftMetadata", dependencies: ["BinaryImage", "LibC"]),
    .target(name: "Registration", dependencies: ["BinaryImage", "LibC"]),
    .target(
      name: "SwiftContracts",
      dependencies: ["SwiftMetadata", "Registration", "BinaryImage", "LibC"]),
    .target(
      name: "PluginFiles",
      dependencies: [
        "SwiftContracts", "SwiftMetadata", "Registration", "BinaryImage", "Threads", "LibC",
      ]),
    .target(name: "CEpoch"),
    .target(name: "CForeignCalls", dependencies: ["CBeeHive"]),
    .target(name: "Threads", dependencies: ["LibC"]),
    .target(name: "CSignals"),
    .target(name: "CStateRecord"),
    .target(name: "CSwiftRuntime"),
    .target(name: "CImageEvents", dependencies: ["CBeeHive", "CImageList"]),
    .target(
      name: "BeeHive",
      dependencies: [
        "Registration", "SwiftMetadata", "BinaryImage", "Threads", "LibC", "CBeeHive", "CEpoch",
        "CForeignCalls", "CImageEvents", "CSignals", "CStateRecord", "CSwiftRuntime",
      ]),
    .target(
      name: "BeeHiveRouting",
      dependencies: [
        "BeeHive", "Registration", "BinaryImage", "Threads", "LibC", "CBeeHive",
        "CForeignCalls",
      ]),
    .target(
      name: "Harness",
      dependencies: [
        "PluginFiles", "SwiftContracts", "Registration", "SwiftMetadata", "ObjectFiles",
        "BinaryImage",
      ]),
    .executableTarget(name: "ELFReader", dependencies: ["Harness"]),
    .executableTarget(name: "MachOReader", dependencies: ["Harness"]),
    .executableTarget(name: "ArchiveReader", dependencies: ["Harness"]),
    .executableTarget(name: "RelocationEngine", dependencies: ["Harness", "ObjectFiles"]),
    .executableTarget(name: "RecordDecoder", dependencies: ["Harness"]),
    .executableTarget(name: "RouteMatcher", dependencies: ["Harness", "BeeHiveRouting"]),
    .executableTarget(name: "DecisionTableReader", dependencies: ["Harness", "BeeHiveRouting"]),
  ],
  cLanguageStandard: .c11
)

for target in package.targets where target.type != .system && !target.name.hasPrefix("C") {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
