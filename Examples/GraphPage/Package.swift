// swift-tools-version: 6.2
import PackageDescription

// A page to pan, zoom and search. It draws the output of `section-dump graph --format json`. A package of its own
// without dependencies: a layout is no part of a reader of object files.
let package = Package(
  name: "GraphPage",
  products: [.executable(name: "graph-page", targets: ["GraphPage"])],
  targets: [
    .executableTarget(
      name: "GraphPage", resources: ["html", "css", "js"].map { .embedInCode("page.\($0)") }),
    .testTarget(name: "GraphPageTests", dependencies: ["GraphPage"]),
  ])
