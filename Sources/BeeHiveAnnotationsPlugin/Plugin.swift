#if Annotations
  import SwiftCompilerPlugin
  import SwiftSyntaxMacros

  /// The executable that the compiler asks for expansions.
  @main struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
      ServiceMacro.self, ModuleMacro.self, TargetMacro.self, ActionMacro.self, RouteMacro.self,
      FacadeMacro.self, PluginMacro.self,
    ]
  }
#else
  /// Without the trait there is nothing to expand, and swift-syntax is not built.
  @main enum Plugin {
    static func main() {}
  }
#endif
