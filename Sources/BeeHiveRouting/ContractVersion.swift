// As in BeeHive: each library of contracts has a version of its own name.

@inline(never) @usableFromInline func beehiveContract_0_1() {}

extension Target {
  /// The version that this was compiled against.
  @_alwaysEmitIntoClient public static var _contract: Void { beehiveContract_0_1() }
}
