internal import CBeeHive

/// The lifetime of an annotated service's instance: the words of `Scope` in `BeeHive`.
///
/// The macros read the word from the source; nothing of this exists at run time.
public enum AnnotatedScope: Sendable {
  /// A new instance for each request.
  case transient
  /// One instance, made at the first request.
  case singleton
  /// One instance as long as somebody else holds it; the implementation is a class.
  case weak
  /// One instance for each scope that asks.
  case scoped
}

/// The order of annotated modules: the basic ones start first.
public enum AnnotatedLevel: Sendable {
  /// Before the normal ones.
  case basic
  /// After the basic ones.
  case normal
}

/// Names of modules or services: one string literal, or an array of them.
public struct AnnotatedNames: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, Sendable {
  /// Takes one name.
  ///
  /// - Parameter name: The name.
  public init(stringLiteral name: String) {}
  /// Takes several names.
  ///
  /// - Parameter names: The names, each a literal.
  public init(arrayLiteral names: String...) {}
}

/// Whether calls from outside may reach an action or a route.
///
/// The macros read the word from the source; nothing of this exists at run time.
public enum AnnotatedExposure: Sendable {
  /// Only code of this process.
  case local
  /// Calls from outside too: this is the allow-list. For such a call, its own calls come from outside as well.
  case remote
  /// Calls from outside too. It may open local routes, so it checks each request itself.
  case elevated
}

#if Declarations
  /// Declares that this type implements a service; the image that holds it offers it when loaded.
  ///
  /// The type is a class, an actor, a struct or an enum, conforms to the service, and is not generic. Its
  /// body has an `init()` that neither throws nor waits nor belongs to an actor. A type that cannot have
  /// one registers a factory instead, with `hive.register`. A type inside a function takes no annotation.
  ///
  /// The services of one annotation share each instance that is kept: one singleton, whichever of them callers ask for.
  /// Repeat the annotation for services with instances of their own, or for one service under several names.
  ///
  /// Writes a record for each service into the section `BeehiveRecords`, a constant: no code runs before `main`.
  /// In C: `BEEHIVE_SERVICE_FACTORY`.
  ///
  /// - Parameters:
  ///   - service: The service that it implements, as a type: `(any Greeter).self`. The record carries this name
  ///     as it is written here.
  ///   - others: Further services that the type implements.
  ///   - name: Tells several implementations of one service apart.
  ///   - scope: The lifetime of an instance.
  ///   - priority: If several types implement the service, the one with the largest priority answers.
  ///   - needs: Services that it looks up while it is made. Initialisers and properties show some without it, outside
  ///     closures and without a given name: `hive.service((any Conn).self)`, `let conn: any Conn = try hive.service()`.
  @attached(member)
  public macro BeeHiveService(
    _ service: Any.Type, _ others: Any.Type..., name: String? = nil,
    scope: AnnotatedScope = .transient, priority: Int = 0, needs: AnnotatedNames = []
  ) = #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "ServiceMacro")

  /// Declares that this type is a module; the image that holds it offers it when loaded.
  ///
  /// The type conforms to `Module` of `BeeHive` and is not generic. Other modules require it by its name. Unless
  /// you give it one, that is `Shop.ShopModule`, or `Shop.Outer.ShopModule`.
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In
  /// C: `BEEHIVE_MODULE`.
  ///
  /// - Parameters:
  ///   - name: The module's name, instead of its type's name.
  ///   - version: Its version, numbers with dots between them, for modules that require only some versions.
  ///   - level: Basic modules start before the normal ones.
  ///   - priority: The larger one starts first among modules that nothing else orders.
  ///   - requires: Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
  ///   - after: Modules that start earlier if they are present.
  ///   - needs: Services that it looks up. Its body shows some without it, outside closures and without a given
  ///     name: `context.hive.service((any Conn).self)`.
  @attached(member)
  public macro BeeHiveModule(
    name: String? = nil, version: String? = nil, level: AnnotatedLevel = .normal,
    priority: Int = 0,
    requires: AnnotatedNames = [], after: AnnotatedNames = [], needs: AnnotatedNames = []
  ) = #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "ModuleMacro")

  /// States the identity of the plugin that this type belongs to: its id and its version, for hosts, users and tools.
  ///
  /// Write it once in a plugin, on any type that is not generic. The type does not change. A host loads the highest
  /// version of an id. Users switch a plugin off by its id, so it stays the same in all versions.
  ///
  ///     @BeeHivePlugin("com.example.greet", "1.4.2", name: "Greetings", names: ["de": "Begrüßung"])
  ///     final class GreetModule: Module {
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In C:
  /// `BEEHIVE_PLUGIN`.
  ///
  /// - Parameters:
  ///   - id: A name in reverse, a literal: letters, digits, `-` and `_` with dots between them.
  ///   - version: The version as Semantic Versioning writes it, a literal.
  ///   - name: The name for people, a literal.
  ///   - names: The names in other languages, by their tags.
  ///   - licence: The licence, as SPDX writes it: `MIT`.
  ///   - homePage: The address of the plugin's page.
  ///   - icon: The name of an icon in the theme, or a path.
  @attached(member)
  public macro BeeHivePlugin(
    _ id: String, _ version: String, name: String? = nil, names: [String: String] = [:],
    licence: String? = nil, homePage: String? = nil, icon: String? = nil
  ) = #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "PluginMacro")

  /// Declares that this type is a target; the image that holds it offers its actions when loaded.
  ///
  /// The type conforms to `Target` of `BeeHiveRouting` and has an `init()` that callers can call, as for
  /// `@BeeHiveService`. Its actions are the methods with `@Action`. It is made at the first call.
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In C:
  /// `BEEHIVE_TARGET`.
  ///
  /// - Parameter name: The name that callers use, a literal.
  @attached(member, names: named(actions))
  public macro Target(_ name: String) =
    #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "TargetMacro")

  /// Declares that this method of a `@Target` is an action, under its own name.
  ///
  /// Parameters are given by their labels. If a call from outside has to give a parameter, its type is
  /// `URLConvertible`; another type does not compile.
  ///
  /// - Parameter exposure: Whether calls from outside reach it.
  @attached(peer)
  public macro Action(_ exposure: AnnotatedExposure = .local) =
    #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "ActionMacro")

  /// Declares that this function, global or static, answers a URL pattern.
  ///
  /// Its parameters have the names of the pattern's values, or it has one, a `RouteCall`. Their types are those
  /// of the pattern. Another type is an error here. So is a type without nil, if the pattern allows that there is
  /// no value and the parameter has no default. Types that the macro does not know by name, such as a host's
  /// types for patterns, are compared at the call.
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In C:
  /// `BEEHIVE_ROUTE`.
  ///
  /// - Parameters:
  ///   - pattern: The URLs that it answers, a literal: `app://shop/:id<Int>`.
  ///   - exposure: Whether calls from outside reach it.
  ///   - priority: Routes that match answer in this order, the largest first.
  @attached(peer)
  public macro Route(
    _ pattern: String, _ exposure: AnnotatedExposure = .local, priority: Int = 0
  ) = #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "RouteMacro")

  /// Writes a structure that callers of a target use instead of names: for `protocol Shop`, it is `ShopCalls`.
  ///
  /// It belongs into a module of contracts, next to one line, and callers write
  /// `hive.mediator.shop.price(sku: "a1")`:
  ///
  ///     extension Mediator { var shop: ShopCalls { ShopCalls(self) } }
  ///
  /// A requirement of a protocol has no defaults, but the target has them. Callers of `ShopCalls` may leave out a
  /// parameter whose type is optional here, and nil is not passed to the target. For
  /// `currency: Currency = .euro` there, the protocol has `currency: Currency?`.
  ///
  /// The target may be in a library that is not loaded yet. `hive.mediator.check(ShopCalls.self)` reports what
  /// it lacks.
  ///
  /// - Parameter target: The target's name, as its `@Target` has it, a literal.
  @attached(peer, names: suffixed(Calls))
  public macro Facade(_ target: String) =
    #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "FacadeMacro")
#endif

/// The parts of the macros' expansions. For generated code; nothing to write by hand.
public enum AnnotatedEntry {
  #if _pointerBitWidth(_64)
    /// A record of `BeehiveRecords`: size, version, kind, flags, text offset, accessor, context, text.
    ///
    /// The same bytes as `beehive_record_head` with its text, in a shape that is a constant in Swift.
    public typealias Record<let textSize: Int> = (
      UInt32, UInt16, UInt16, UInt32, UInt32, Accessor, UInt, InlineArray<textSize, UInt8>
    )
  #else
    #error("pointers of 4 bytes need a filler behind them, which these macros do not write yet")
  #endif

  /// `beehive_accessor`: the function that gives a host the instance of a record.
  public typealias Accessor =
    @convention(c) (
      _ out: UnsafeMutableRawPointer?, _ expectedType: UnsafeRawPointer?,
      _ context: UnsafeRawPointer?, _ request: UInt
    ) -> Bool

  /// Answers a host's request, as the record layout says.
  ///
  /// Called without `unsafe`, which swift-syntax before 601 does not know.
  ///
  /// - Parameters:
  ///   - request: `BEEHIVE_REQUEST_MAKE` or `BEEHIVE_REQUEST_DESCRIBE`.
  ///   - out: Uninitialised storage of `Service`, or space for an `Any.Type`, for the answer.
  ///   - expectedType: Points to the `Any.Type` that the host expects; a `Service` of the same name from
  ///     another copy of its module is refused.
  ///   - make: Makes the instance.
  /// - Returns: Whether `out` was written; false if the host asks for something else.
  @safe public static func answer<Service>(
    _ request: UInt, _ out: UnsafeMutableRawPointer?, _ expectedType: UnsafeRawPointer?,
    _ make: () -> Service
  ) -> Bool {
    // Sound: both pointers come from a host that keeps the contract in CSupport/RecordLayout.md.
    guard let out = unsafe out else { return false }
    switch request {
    case UInt(BEEHIVE_REQUEST_MAKE):
      guard let expectedType = unsafe expectedType?.load(as: Any.Type.self),
        expectedType == Service.self
      else { return false }
      unsafe out.initializeMemory(as: Service.self, to: make())
      return true
    case UInt(BEEHIVE_REQUEST_DESCRIBE):
      unsafe out.storeBytes(of: Service.self, as: Any.Type.self)
      return true
    default: return false
    }
  }
}
