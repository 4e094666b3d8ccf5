// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

/// Products of swift-syntax, for those who switch the trait on.
func swiftSyntax(_ products: String...) -> [Target.Dependency] {
  products.map {
    .product(name: $0, package: "swift-syntax", condition: .when(traits: ["Annotations"]))
  }
}

/// A target of this package, for the same.
func annotating(_ target: String) -> Target.Dependency {
  .byName(name: target, condition: .when(traits: ["Annotations"]))
}

// Targets stand lowest layer first; `Scripts/check-layers` holds each to the layers it may import.
let package = Package(
  name: "swift-beehive",
  products: [
    // One registry per process: a plugin with a static copy of the runtime would register into that
    // copy, so the library is dynamic and clients import each of its modules from the one file.
    .library(
      name: "BeeHive", type: .dynamic,
      targets: [
        "BinaryImage", "Registration", "PluginFiles", "BeeHive", "BeeHiveRouting", "BeeHivePlugins",
      ]),
    // The header that authors include, and the anchor for images whose entries are all Swift.
    .library(name: "CBeeHive", targets: ["CBeeHive", "CBeeHiveAnchor"]),
    // The Swift macros, with the anchor. Empty without the trait of the same name.
    .library(name: "BeeHiveAnnotations", targets: ["BeeHiveAnnotations"]),
    .executable(name: "section-dump", targets: ["section-dump"]),
    // What tests write of a Hive. A plugin that adds the sources to a test target, because SwiftPM would link a
    // library of this package with a static copy of the runtime: a second registry.
    .plugin(name: "BeeHiveTesting", targets: ["TestingSources"]),
    // `swift package section-dump`, verify-registrations, beehive-new-plugin and beehive-macros.
    .plugin(
      name: "BeeHiveCommands",
      targets: ["SectionDumpCommand", "VerifyCommand", "NewPluginCommand", "MacrosCommand"]),
  ],
  traits: [
    .trait(
      name: "Annotations",
      description: "The Swift macros @BeeHiveService and @BeeHiveModule; builds swift-syntax.",
      enabledTraits: ["Declarations"]),
    .trait(
      name: "Declarations",
      description: "The macros without what expands them: swift package beehive-macros builds that."
    ),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // For tests alone: a host's decoder that is not Foundation's.
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", "600.0.1"..<"604.0.0"),
  ],
  targets: [
    // C, only where Swift cannot: attributes, assembler directives, the loader's callbacks.
    .target(name: "CBeeHive", path: "CSupport/CBeeHive"),
    .target(name: "CBeeHiveAnchor", dependencies: ["CBeeHive"], path: "CSupport/CBeeHiveAnchor"),
    .systemLibrary(
      name: "CElf", path: "CSupport/CElf", pkgConfig: "libelf",
      providers: [.apt(["libelf-dev"])]),
    .systemLibrary(name: "CTrace", path: "CSupport/CTrace"),
    .target(name: "CImageList", dependencies: ["CElf"], path: "CSupport/CImageList"),
    .target(name: "CEpoch", path: "CSupport/CEpoch"),
    .target(name: "CForeignCalls", dependencies: ["CBeeHive"], path: "CSupport/CForeignCalls"),
    .target(name: "CSignals", path: "CSupport/CSignals"),
    .target(name: "CStateRecord", path: "CSupport/CStateRecord"),
    .target(name: "CSwiftRuntime", path: "CSupport/CSwiftRuntime"),
    .target(
      name: "CImageEvents", dependencies: ["CBeeHive", "CImageList"], path: "CSupport/CImageEvents"),

    // L0: the C library; threads that wait for each other.
    .target(name: "LibC"),
    .target(name: "Threads", dependencies: ["LibC"]),
    // L1: bytes and addresses: ELF files, and what this process has loaded.
    .target(name: "BinaryImage", dependencies: ["LibC", "CElf", "CImageList"]),
    // L1 of the tool alone: Mach-O, files that hold others, other processes and cores.
    .target(name: "ObjectFiles", dependencies: ["BinaryImage", "LibC", "CElf"]),
    // L1: the Swift compiler's tables, in the process and in files.
    .target(name: "SwiftMetadata", dependencies: ["BinaryImage", "LibC"]),
    // L2: section bytes to validated values.
    .target(name: "Registration", dependencies: ["BinaryImage", "LibC"]),
    // L2: the Swift types and contracts that files declare, and what others were built to find of them.
    .target(
      name: "SwiftContracts",
      dependencies: ["SwiftMetadata", "Registration", "BinaryImage", "LibC"]),
    // L3: what a plugin's file says before it is loaded.
    .target(
      name: "PluginFiles",
      dependencies: [
        "SwiftContracts", "SwiftMetadata", "Registration", "BinaryImage", "Threads", "LibC",
      ]),
    // L3: values to living modules and services.
    .target(
      name: "BeeHive",
      dependencies: [
        "Registration", "SwiftMetadata", "BinaryImage", "Threads", "LibC", "CBeeHive", "CEpoch",
        "CForeignCalls", "CImageEvents", "CSignals", "CStateRecord", "CSwiftRuntime",
      ]),

    // L4: calls between modules, by name and by URL.
    .target(
      name: "BeeHiveRouting",
      dependencies: [
        "BeeHive", "Registration", "BinaryImage", "Threads", "LibC", "CBeeHive", "CForeignCalls",
      ]),

    // L4: plugins before they are loaded.
    .target(
      name: "BeeHivePlugins",
      dependencies: ["BeeHive", "PluginFiles", "Registration", "BinaryImage", "Threads", "LibC"]),

    // What tests of clients write; never linked into the library.
    .target(name: "BeeHiveTesting", dependencies: ["BeeHive"]),

    // What Swift authors write. The macros' implementation is empty without the trait, so that nobody
    // builds or even fetches swift-syntax who does not ask for it.
    .target(
      name: "BeeHiveAnnotations",
      dependencies: [annotating("BeeHiveAnnotationsPlugin"), "CBeeHive", "CBeeHiveAnchor"]),
    .macro(
      name: "BeeHiveAnnotationsPlugin",
      dependencies: swiftSyntax(
        "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax",
        "SwiftSyntaxBuilder", "SwiftSyntaxMacros")),

    .executableTarget(
      name: "section-dump",
      dependencies: [
        "PluginFiles", "ObjectFiles", "SwiftContracts", "BinaryImage", "Registration",
        "SwiftMetadata", "Threads",
        "LibC", "CTrace",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ], resources: [.embedInCode("Schemas")]),

    // What `swift package` offers to clients; built for those who ask for it.
    .plugin(
      name: "TestingSources", capability: .buildTool(), path: "Sources/Commands/TestingSources"),
    .plugin(
      name: "SectionDumpCommand",
      capability: .command(
        intent: .custom(
          verb: "section-dump", description: "Runs section-dump over the products of the package.")),
      dependencies: ["section-dump"], path: "Sources/Commands/SectionDump"),
    .plugin(
      name: "VerifyCommand",
      capability: .command(
        intent: .custom(
          verb: "verify-registrations",
          description:
            "Builds the package, and fails where its products would not register as declared.")),
      dependencies: ["section-dump"], path: "Sources/Commands/Verify"),
    .plugin(
      name: "NewPluginCommand",
      capability: .command(
        intent: .custom(
          verb: "beehive-new-plugin", description: "Makes the package of a plugin, with a test."),
        permissions: [
          .writeToPackageDirectory(
            reason: "The new plugin is a folder in the folder of the package.")
        ]),
      path: "Sources/Commands/NewPlugin", exclude: ["Template"]),
    .plugin(
      name: "MacrosCommand",
      capability: .command(
        intent: .custom(
          verb: "beehive-macros",
          description:
            "Builds what expands the macros of Swift against the toolchain's SwiftSyntax.")),
      path: "Sources/Commands/Macros"),

    // Modules in C, for tests alone.
    .target(name: "CModules", dependencies: ["CBeeHive"], path: "Tests/Fixtures/CModules"),
    // Targets and routes in C, likewise.
    .target(name: "CRoutes", dependencies: ["CBeeHive"], path: "Tests/Fixtures/CRoutes"),
    // What tests of every target do: run programs, make folders, name what is missing.
    .target(name: "TestSupport", path: "Tests/Support"),
    .testTarget(name: "ThreadsTests", dependencies: ["Threads", "TestSupport"]),
    // With ObjectFiles, whose readers are tested on the same fixtures.
    .testTarget(
      name: "BinaryImageTests",
      dependencies: ["ObjectFiles", "BinaryImage", "CElf", "CImageEvents", "TestSupport"]),
    .testTarget(
      name: "RegistrationTests", dependencies: ["Registration", "BinaryImage", "TestSupport"]),
    .testTarget(
      name: "PluginFilesTests",
      dependencies: [
        "PluginFiles", "SwiftContracts", "SwiftMetadata", "Registration", "BinaryImage",
        "TestSupport",
      ]),
    .testTarget(
      name: "BeeHiveTests",
      dependencies: [
        "BeeHive", "Registration", "BinaryImage", "Threads", "CBeeHive", "CModules", "TestSupport",
        .product(name: "Yams", package: "Yams"),
      ]),
    .testTarget(
      name: "BeeHiveTestingTests",
      dependencies: ["BeeHiveTesting", "BeeHive", "TestSupport"]),
    .testTarget(
      name: "BeeHiveRoutingTests",
      dependencies: [
        "BeeHiveRouting", "BeeHive", "Registration", "CRoutes", "Threads", "TestSupport",
        .product(name: "Yams", package: "Yams"),
      ]),
    .testTarget(
      name: "BeeHivePluginsTests",
      dependencies: [
        "BeeHivePlugins", "BeeHiveRouting", "BeeHive", "Registration", "BinaryImage", "Threads",
        "TestSupport",
      ]),
    .testTarget(
      name: "SectionDumpTests",
      dependencies: ["section-dump", "ObjectFiles", "BinaryImage", "Threads", "TestSupport"],
      exclude: ["Goldens"]),
    // What the repository promises as a whole: documents, headers, scripts, the installed tool.
    .testTarget(
      name: "ProjectTests",
      dependencies: [
        "section-dump", "BeeHiveRouting", "BeeHive", "Registration", "ObjectFiles", "BinaryImage",
        "TestSupport",
        .product(name: "Yams", package: "Yams"),
      ],
      exclude: ["Documents/words.txt"]),
  ],
  cLanguageStandard: .c11
)

// One set of rules for every Swift target of this package.
for target in package.targets where [.regular, .executable, .macro, .test].contains(target.type) {
  if ["CSupport/", "Tests/Fixtures/"].contains(where: { target.path?.hasPrefix($0) == true }) {
    target.cSettings = [
      .treatAllWarnings(as: .error), .enableWarning("all"), .enableWarning("extra"),
    ]
    continue
  }
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .strictMemorySafety(),
    // With the trait Declarations alone, the compiler warns that this target does not know its macros' plugin.
    .treatAllWarnings(
      as: .error, target.name == "BeeHiveAnnotations" ? .when(traits: ["Annotations"]) : nil),
  ]
}
