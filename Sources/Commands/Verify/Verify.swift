import PackagePlugin

/// `swift package verify-registrations [-c release] [--product NAME] [--strict]`: runs `section-dump verify` over the
/// programs and dynamic libraries of the package.
@main struct Verify: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    try ToolRun(["verify"], arguments, context)(packageManager)
  }
}
