// What Swift plugins are compiled against has the major and minor version of the package: Docs/contracts.md. A type that
// conforms refers to the function of its version, so that a plugin of another one is refused before it is loaded.

@inline(never) @usableFromInline func beehiveContract_0_1() {}

extension Module {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}

extension Injectable {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}
