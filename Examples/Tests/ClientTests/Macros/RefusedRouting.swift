extension RefusedUse {
  /// Targets, actions, routes and facades.
  static let routing = [
    Self(
      "@Target(\"shop\") struct Aisle<T>: Target {}",
      "'Aisle' is generic, and an entry has no type arguments; annotate a type that is not, or "
        + "register it with hive.mediator.register", 1, 29),
    Self(
      "@Target(\"\") struct Shelf: Target {}", "the target's name must not be empty", 1, 9),
    Self(
      "@Target(\"shop\") enum Crate: Target { case one }",
      "'Crate' needs an init() without arguments in its body: a lookup has none to "
        + "give; write it, or register it with hive.mediator.register instead", 1, 22),
    Self(
      "@Target(\"shop\") struct Chest: Target { @Action func a<T>(t: T) {} }",
      "@Action needs a function without type parameters: a call by name has none to give", 1, 54),
    Self(
      "@Target(\"shop\") struct Trunk: Target { @Action func a(t: inout Int) {} }",
      "@Action takes values: make this parameter an array, or return what it changes", 1, 55),
    Self(
      "@Target(\"shop\") struct Drawer: Target { @Action(.remote) func nativeOpen() {} }",
      "names that begin with native are never remote; rename it, or remove .remote", 1, 63),
    Self(
      "@Target(\"shop\") struct Basket: Target { @Action func a() {}; @Action func a(t: Int) {} }",
      "there is an action a already, and actions are told apart by their names; rename one of them",
      1, 75),
    Self(
      "@Action func ring() {}",
      "@Action belongs to a method, not static and not mutating, in the body of a type with "
        + "@Target", 1, 1),
    Self(
      "@Route(\"/a\") struct Lane {}",
      "@Route belongs to a static method or a global function", 1, 1),
    Self(
      "@Route(\"/a/:id\") func a(id: Int, idx: Int) {}",
      "the pattern gives no value to idx; add :idx to its path, or idx to its query", 1, 34),
    Self(
      "@Route(\"app://typed/:id<Int>\", .remote) func typed(id: String) {}",
      "the pattern gives id as Int, and the function takes String; write one type in both", 1, 52),
    Self(
      "@Route(\"/b(/:tab)\") func b(tab: String) {}",
      "the pattern gives tab as String?, and the function takes String; write one type in both", 1,
      28),
    Self(
      "@Route(\"/c?from\") func c(from: String) {}",
      "the pattern gives from as String?, and the function takes String; write one type in both", 1,
      26),
    Self(
      "@Route(\"/d?page<Int?>\") func d(page: Double?) {}",
      "the pattern gives page as Int?, and the function takes Double?; write one type in both", 1,
      32),
    Self(
      "@Route(\"/e/:at<UUID>\") func e(at: Bool) {}",
      "the pattern gives at as UUID, and the function takes Bool; write one type in both", 1, 31),
    Self(
      "@Route(\"/f/*names\") func f(names: String) {}",
      "the pattern gives names as [String], and the function takes String; write one type in both",
      1, 28),
    Self(
      "struct Crane<T> {\n  @Route(\"/g\") static func g() {}\n}",
      "'Crane' is generic, and an entry has no type arguments; move the function out of it", 2, 3),
    Self(
      "@Route(\"/h/:done\", .remote) func h(done: @escaping @Sendable (Int) -> Void) {}",
      "no URL can hold the function done; make it optional, or remove .remote", 1, 36),
    Self(
      "@Target(\"shop\") struct Barrow: Target { "
        + "@Action(.elevated) func a(done: @escaping @Sendable () -> Void) {} }",
      "no URL can hold the function done; make it optional, or remove .elevated", 1, 67),
    Self(
      "@Facade(\"shop\") struct Front {}",
      "@Facade belongs to a protocol, whose requirements are the actions", 1, 1),
    Self(
      "@Facade(\"shop\") protocol Counter { func a() throws }",
      "a call by name waits and may fail: declare a as async throws", 1, 42),
    Self(
      "@Facade(\"shop\") protocol Window { var a: Int { get } }",
      "a facade is made of functions; move this elsewhere", 1, 35),
  ]
}
