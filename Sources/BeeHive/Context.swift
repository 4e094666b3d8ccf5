/// What a module is told about its host: a value, so that no module changes it under another.
///
///     enum Tenant: Context.Key { static let defaultValue = "none" }
///
///     var context = Context(hive: .process, environment: .test)
///     context[Tenant.self] = "orchard"
///     try await Hive.process.start(context)
public struct Context: Sendable {
  /// In which surroundings the application runs.
  public struct Environment: Hashable, Sendable {
    /// The name that C modules and reports see.
    public let name: String

    /// Names an environment of the application's own.
    ///
    /// - Parameter name: What C modules and reports are told; compared as it is.
    public init(_ name: String) { self.name = name }

    /// On a developer's machine.
    public static let development = Self("development")
    /// Under test.
    public static let test = Self("test")
    /// On a stage before production.
    public static let stage = Self("stage")
    /// In production; what a context says unless told otherwise.
    public static let production = Self("production")
  }

  /// A value of the application's own that travels with the context.
  public protocol Key {
    /// The type of the value.
    associatedtype Value: Sendable
    /// What a context holds that was told nothing.
    static var defaultValue: Value { get }
  }

  /// The Hive that runs the module.
  public internal(set) var hive: Hive
  /// In which surroundings the application runs.
  public var environment: Environment
  /// The arguments of the program, its name first.
  public var arguments: [String]
  /// The URL that the application was launched to open.
  public var launchURL: String?
  /// The settings of the application.
  public var configuration: Configuration
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Creates the context of a Hive.
  ///
  /// - Parameters:
  ///   - hive: The Hive that modules ask. A Hive that is started with the context puts itself here.
  ///   - environment: In which surroundings the application runs.
  ///   - arguments: The arguments of the program, its name first.
  ///   - launchURL: The URL that the application was launched to open, if any.
  ///   - configuration: The settings, shared by reference; empty unless given.
  public init(
    hive: Hive, environment: Environment = .production,
    arguments: [String] = CommandLine.arguments, launchURL: String? = nil,
    configuration: Configuration = Configuration()
  ) {
    self.hive = hive
    self.environment = environment
    self.arguments = arguments
    self.launchURL = launchURL
    self.configuration = configuration
  }

  /// Accesses a value of the application's own.
  ///
  /// - Parameter key: The type that declares the value and its default.
  /// - Returns: The value that was set, else the key's `defaultValue`.
  public subscript<K: Key>(key: K.Type) -> K.Value {
    // A value that was not set is asked for first: nil could be cast to an optional `K.Value`.
    get { values[ObjectIdentifier(key)].flatMap { $0 as? K.Value } ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}
