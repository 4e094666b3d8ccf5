import Foundation
import PackagePlugin

/// Builds the products of a package and runs section-dump over their files.
struct ToolRun {
  /// Why a command ends with status 1.
  struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private let context: PluginContext
  private var products: [String] = []
  private var configuration = PackageManager.BuildConfiguration.inherit
  private var arguments: [String]

  /// Takes `-c`, `--configuration` and `--product` out of the user's arguments; the others are the tool's.
  init(_ leading: [String], _ given: [String], _ context: PluginContext) throws {
    self.context = context
    arguments = leading
    var rest = given[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "-c", "--configuration":
        guard let word = rest.popFirst(),
          let known = PackageManager.BuildConfiguration(rawValue: word)
        else { throw Failure(description: "\(argument) is debug or release") }
        configuration = known
      case "--product":
        guard let name = rest.popFirst() else {
          throw Failure(description: "--product names a product of the package")
        }
        products.append(name)
      default: arguments.append(argument)
      }
    }
  }

  /// Builds, and runs the tool; `--help` is the tool's own, without a build.
  func callAsFunction(_ manager: PackageManager) throws {
    let tool = try context.tool(named: "section-dump")
    let isHelp = arguments.contains("--help") || arguments.contains("-h")
    let process = Process()
    process.executableURL = tool.url
    process.arguments = arguments + (isHelp ? [] : try files(manager))
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw Failure(
        description: "section-dump \(arguments.joined(separator: " ")): status "
          + "\(process.terminationStatus)")
    }
  }

  /// The programs and dynamic libraries of the package, or of the products that are asked for, built.
  private func files(_ manager: PackageManager) throws -> [String] {
    let own = context.package.products.filter { product in
      product is ExecutableProduct || (product as? LibraryProduct)?.kind == .dynamic
    }.map(\.name)
    let wanted = products.isEmpty ? own : products
    let files = try wanted.flatMap { name in
      let result = try manager.build(
        .product(name), parameters: .init(configuration: configuration, logging: .concise))
      guard result.succeeded else { throw Failure(description: result.logText) }
      return result.builtArtifacts.map(\.url).filter {
        [name, "lib\(name).so"].contains($0.lastPathComponent)
      }.map(\.path)
    }
    guard !files.isEmpty else {
      throw Failure(
        description: "\(context.package.displayName) has no program and no dynamic library")
    }
    return files
  }
}
