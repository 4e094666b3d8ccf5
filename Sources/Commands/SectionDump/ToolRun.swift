import Foundation
import PackagePlugin

/// Builds the products of a package and runs section-dump over their files.
struct ToolRun {
  private let context: PluginContext
  private let products: [String]
  private var configuration = PackageManager.BuildConfiguration.inherit
  private let arguments: [String]

  /// The commands that do not read the products. They get only the user's arguments.
  private static let others: Set = ["diff", "doctor", "help", "live", "probe"]

  /// Takes `-c`, `--configuration` and `--product` out of the user's arguments. The tool gets the others.
  init(_ leading: [String], _ given: [String], _ context: PluginContext) {
    self.context = context
    if let last = given.last, ["-c", "--configuration", "--product"].contains(last) {
      fail("\(last) needs a value")
    }
    var options = ArgumentExtractor(given.map { $0 == "-c" ? "--configuration" : $0 })
    products = options.extractOption(named: "product")
    for name in options.extractOption(named: "configuration") {
      guard let known = PackageManager.BuildConfiguration(rawValue: name) else {
        fail("--configuration is debug or release")
      }
      configuration = known
    }
    arguments = leading + options.remainingArguments
  }

  /// Builds the products and runs the tool. Help, the version and commands without products need no build.
  func callAsFunction(_ manager: PackageManager) throws {
    let tool = try context.tool(named: "section-dump")
    let takesFiles =
      Set(arguments).isDisjoint(with: ["--help", "-h", "--version"])
      && !Self.others.contains(arguments.first ?? "")
    let status = try run(tool.url, arguments + (takesFiles ? try files(manager) : []))
    guard status == 0 else {
      fail("section-dump \(arguments.joined(separator: " ")): status \(status)")
    }
  }

  /// Builds and returns the requested products, or all programs and dynamic libraries of the package.
  private func files(_ manager: PackageManager) throws -> [String] {
    let own = context.package.products.filter { product in
      product is ExecutableProduct || (product as? LibraryProduct)?.kind == .dynamic
    }.map(\.name)
    let wanted = products.isEmpty ? own : products
    let files = try wanted.flatMap { name in
      let result = try manager.build(
        .product(name), parameters: .init(configuration: configuration, logging: .concise))
      guard result.succeeded else { fail(result.logText) }
      return result.builtArtifacts.map(\.url).filter {
        [name, "lib\(name).so"].contains($0.lastPathComponent)
      }.map(\.path)
    }
    guard !files.isEmpty else {
      fail("\(context.package.displayName) has no program and no dynamic library")
    }
    return files
  }
}
