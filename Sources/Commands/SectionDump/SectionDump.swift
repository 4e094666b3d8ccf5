import PackagePlugin

/// `swift package section-dump [-c release] [--product NAME] [ARGUMENT…]`: runs the tool with its arguments over the
/// programs and dynamic libraries of the package. Commands that do not read products get only the arguments.
@main struct SectionDump: CommandPlugin {
  func performCommand(context: PluginContext, arguments: [String]) throws {
    try ToolRun([], arguments, context)(packageManager)
  }
}
