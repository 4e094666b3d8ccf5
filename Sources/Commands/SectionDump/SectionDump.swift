import PackagePlugin

/// `swift package section-dump [-c release] [--product NAME] [ARGUMENT…]`: the tool, with its arguments, over
/// the programs and dynamic libraries of the package.
@main struct SectionDump: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    try ToolRun([], arguments, context)(packageManager)
  }
}
