// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that users of the library build no harness. `Scripts/benchmark` runs everything here and
// prints one table; README.md says how to read it.
let package = Package(
  name: "benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "swift-beehive", path: ".."),
    // Without its traits, which count allocations by replacing the allocator.
    .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []),
  ],
  targets: [
    // The floors in C, the clock, and the marks that tell callgrind what to count.
    .target(name: "CFloors", linkerSettings: [.linkedLibrary("elf")]),
    // The comparisons: each candidate with its floor.
    .target(
      name: "Workloads",
      dependencies: ["CFloors", .product(name: "BeeHive", package: "swift-beehive")]),
    // Counts the instructions of one comparison, under callgrind.
    .executableTarget(name: "instructions", dependencies: ["Workloads", "CFloors"]),
    // Counts the instructions of reading decision tables, likewise.
    .executableTarget(
      name: "documents",
      dependencies: ["CFloors", .product(name: "BeeHive", package: "swift-beehive")]),
    // Starts with a folder of plugins; Plugins/measure times it.
    .executableTarget(
      name: "host",
      dependencies: ["CFloors", .product(name: "BeeHive", package: "swift-beehive")]),
    // Joins times and counts into one table and holds them against the bounds.
    .executableTarget(name: "figures"),
    // Takes the times.
    .executableTarget(
      name: "Times",
      dependencies: ["Workloads", .product(name: "Benchmark", package: "benchmark")],
      path: "Benchmarks/Times",
      plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]),
  ],
  cLanguageStandard: .c11
)

// The library's rules, except where the harness generates a file.
for target in package.targets where target.type == .executable || target.name == "Workloads" {
  if target.name == "Times" { continue }
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
  ]
}
