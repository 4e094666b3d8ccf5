import PackagePlugin

/// `swift package section-dump [-c release] [--product NAME] [ARGUMENT…]`: the tool, with its arguments, over
/// the programs and dynamic libraries of the package. Commands that do not read those get the arguments alone.
@main struct SectionDump: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    try ToolRun([], arguments, context)(packageManager)
  }
}
