/// Whether calls from outside may reach an action or a route.
///
/// The macros read the word from the source; nothing of this exists at run time.
public enum AnnotatedExposure: Sendable {
  /// Only code of this process.
  case local
  /// Calls from outside too: this is the allow-list. What it opens for one is opened from outside as well.
  case remote
  /// Calls from outside too, and what it opens may be local: it checks by itself what is asked of it.
  case elevated
}

#if Declarations
  /// Declares that this type is a target; the image that holds it offers its actions when loaded.
  ///
  /// The type conforms to `Target` of `BeeHiveRouting` and has an `init()` that callers can call, as for
  /// `@BeeHiveService`. Its actions are the methods with `@Action`. It is made at the first call.
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In C:
  /// `BEEHIVE_TARGET`.
  ///
  /// - Parameter name: The name by which it is called, a literal.
  @attached(member, names: named(actions))
  public macro Target(_ name: String) =
    #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "TargetMacro")

  /// Declares that this method of a `@Target` is an action, under its own name.
  ///
  /// Parameters are given by their labels. For one that a call from outside has to give, the type is
  /// `URLConvertible`: another does not compile.
  ///
  /// - Parameter exposure: Whether calls from outside reach it.
  @attached(peer)
  public macro Action(_ exposure: AnnotatedExposure = .local) =
    #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "ActionMacro")

  /// Declares that this function, global or static, answers to a URL pattern.
  ///
  /// Its parameters have the names that the pattern gives values to, or it has one, a `RouteCall`. Their
  /// types are those of the pattern: another one is an error here, and so is a type that takes no nil where
  /// the pattern allows that there is no value, unless the parameter has a default. What the macro knows by
  /// no name, such as a type that a host defines for patterns, is compared at the call.
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In C:
  /// `BEEHIVE_ROUTE`.
  ///
  /// - Parameters:
  ///   - pattern: The URLs that it answers to, a literal: `app://shop/:id<Int>`.
  ///   - exposure: Whether calls from outside reach it.
  ///   - priority: The largest is asked first among routes that match.
  @attached(peer)
  public macro Route(
    _ pattern: String, _ exposure: AnnotatedExposure = .local, priority: Int = 0
  ) = #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "RouteMacro")

  /// Writes what callers of a target use instead of names: for `protocol Shop`, the structure `ShopCalls`.
  ///
  /// It belongs into a module of contracts, beside one line, and callers write
  /// `hive.mediator.shop.price(sku: "a1")`:
  ///
  ///     extension Mediator { var shop: ShopCalls { ShopCalls(self) } }
  ///
  /// A requirement of a protocol has no defaults, and the target has them already: callers of `ShopCalls`
  /// may leave out a parameter whose type is optional here, and what is nil is not given to the target. For
  /// `currency: Currency = .euro` there, the protocol has `currency: Currency?`.
  ///
  /// The target may be in a library that is not loaded yet. `hive.mediator.check(ShopCalls.self)` says what
  /// it lacks.
  ///
  /// - Parameter target: The target's name, as its `@Target` has it, a literal.
  @attached(peer, names: suffixed(Calls))
  public macro Facade(_ target: String) =
    #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "FacadeMacro")
#endif
