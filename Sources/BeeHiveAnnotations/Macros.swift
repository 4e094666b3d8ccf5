#if Declarations
  /// Declares that this type implements a service; the image that holds it offers it when loaded.
  ///
  /// The type is a class, an actor, a struct or an enum, conforms to the service, is not generic, and
  /// has in its body an `init()` that neither throws nor waits nor belongs to an actor. A type that
  /// cannot have one registers a factory instead, with `hive.register`. Repeat the attribute for
  /// several services, or for one under several names. A type inside a function takes none.
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In
  /// C: `BEEHIVE_SERVICE_FACTORY`.
  ///
  /// - Parameters:
  ///   - service: What it implements, as a type: `(any Greeter).self`. The record carries this name
  ///     as it is written here.
  ///   - name: Tells several implementations of one service apart.
  ///   - scope: How long an instance lives.
  ///   - priority: The larger one answers where several implement the service.
  @attached(member)
  public macro BeeHiveService(
    _ service: Any.Type, name: String? = nil, scope: AnnotatedScope = .transient,
    priority: Int = 0
  ) = #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "ServiceMacro")

  /// Declares that this type is a module; the image that holds it offers it when loaded.
  ///
  /// The type conforms to `Module` of `BeeHive` and is not generic. Unless it is given a name, that is
  /// `Shop.ShopModule`, or `Shop.Outer.ShopModule`: what others require.
  ///
  /// Writes one record into the section `BeehiveRecords`, a constant: no code runs before `main`. In
  /// C: `BEEHIVE_MODULE`.
  ///
  /// - Parameters:
  ///   - name: What the module is called instead of its type's name.
  ///   - version: Its version, numbers with dots between them, for those that require some versions only.
  ///   - level: Basic modules start before the normal ones.
  ///   - priority: The larger one starts first among those that nothing else orders.
  ///   - requires: Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
  ///   - after: Modules that start earlier where they are present.
  @attached(member)
  public macro BeeHiveModule(
    name: String? = nil, version: String? = nil, level: AnnotatedLevel = .normal,
    priority: Int = 0,
    requires: AnnotatedNames = [], after: AnnotatedNames = []
  ) = #externalMacro(module: "BeeHiveAnnotationsPlugin", type: "ModuleMacro")
#else
  /// Takes the macro's place without the trait: only those who ask for macros build swift-syntax.
  @available(
    *, unavailable, message: "switch the trait on: .package(url: …, traits: [\"Annotations\"])"
  )
  public struct BeeHiveService {}

  /// Takes the macro's place without the trait: only those who ask for macros build swift-syntax.
  @available(
    *, unavailable, message: "switch the trait on: .package(url: …, traits: [\"Annotations\"])"
  )
  public struct BeeHiveModule {}
#endif
