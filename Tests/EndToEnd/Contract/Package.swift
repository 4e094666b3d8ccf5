// swift-tools-version: 6.2
import PackageDescription

// What the hosts and the plugins agree upon, in one shared library: inside one package SwiftPM would
// link it into each of them, and each would have a protocol of its own.
let package = Package(
  name: "Contract",
  products: [.library(name: "Contract", type: .dynamic, targets: ["Contract", "CContract"])],
  targets: [.target(name: "Contract"), .target(name: "CContract")],
  cLanguageStandard: .c11
)
