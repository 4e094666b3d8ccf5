/// Modules and services that a file declares, in the shape of BeeHive's two property lists.
///
/// The host decodes it with the decoder it likes, so the library needs no Foundation:
///
///     let data = try Data(contentsOf: url)
///     let file = try PropertyListDecoder().decode(Registrations.self, from: data)
///     try hive.register(file, file: url.path)
///
/// Both shapes are read: an object with `moduleClasses` and `services`, or an array of services. A value of the wrong
/// form, or a key without a meaning, throws a `DecodingError` whose coding path leads to it: `error.keyPath` is
/// `moduleClasses[0].require`.
///
/// `Docs/configuration-files.md` has every key. For a module, `priority` and `level` mean the same as BeeHive's `modulePriority` and `moduleLevel`.
public struct Registrations: Codable, Hashable, Sendable {
  /// One module.
  public struct Module: Codable, Hashable, Sendable {
    /// The module's type, by name.
    package var moduleClass: String
    /// Its version, numbers with dots between them.
    package var version: String?
    /// 0 for basic, 1 for normal; also written `basic` and `normal`.
    package var moduleLevel: ModuleLevel
    /// Larger first within a level.
    package var modulePriority: Int
    /// Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
    package var requires: [String]
    /// Modules that start earlier if they are present.
    package var after: [String]

    /// Describes a module.
    ///
    /// - Parameters:
    ///   - moduleClass: The module's type, by name: `Shop.ShopModule`.
    ///   - version: Its version, numbers with dots between them.
    ///   - moduleLevel: Whether it starts among the basic modules.
    ///   - modulePriority: Larger first within a level.
    ///   - requires: Modules that must be present and start earlier: `log`, or `log >=1.2 <2`.
    ///   - after: Modules that start earlier if they are present.
    public init(
      moduleClass: String, version: String? = nil, moduleLevel: ModuleLevel = .normal,
      modulePriority: Int = 0, requires: [String] = [], after: [String] = []
    ) {
      self.moduleClass = moduleClass
      self.version = version
      self.moduleLevel = moduleLevel
      self.modulePriority = modulePriority
      self.requires = requires
      self.after = after
    }
  }

  /// One service.
  public struct Service: Codable, Hashable, Sendable {
    /// The service's type, by name.
    package var service: String
    /// The implementing type, by name.
    package var impl: String
    /// Tells several implementations apart.
    package var name: String?
    /// The lifetime of an instance.
    package var scope: Scope
    /// Larger first among several implementations.
    package var priority: Int

    /// Describes a service.
    ///
    /// - Parameters:
    ///   - service: The service's type, by name: `Shop.Cart`.
    ///   - impl: The implementing type, by name.
    ///   - name: Tells several implementations apart.
    ///   - scope: The lifetime of an instance.
    ///   - priority: The largest answers a lookup.
    public init(
      service: String, impl: String, name: String? = nil, scope: Scope = .transient,
      priority: Int = 0
    ) {
      self.service = service
      self.impl = impl
      self.name = name
      self.scope = scope
      self.priority = priority
    }
  }

  /// The modules, in the file's order.
  package var moduleClasses: [Module]
  /// The services, in the file's order.
  package var services: [Service]
  /// The scheme of the application's own URLs.
  public var urlGlobalScheme: String?

  /// Describes the contents of a file.
  ///
  /// - Parameters:
  ///   - moduleClasses: The modules, in the file's order.
  ///   - services: The services, in the file's order.
  ///   - urlGlobalScheme: The scheme of the application's own URLs, for the host to read.
  public init(
    moduleClasses: [Module] = [], services: [Service] = [], urlGlobalScheme: String? = nil
  ) {
    self.moduleClasses = moduleClasses
    self.services = services
    self.urlGlobalScheme = urlGlobalScheme
  }

  /// Reads either shape.
  public init(from decoder: any Decoder) throws {
    if (try? decoder.unkeyedContainer()) != nil {
      self.init(services: try [Service](from: decoder))
      return
    }
    let object = try decoder.object(
      ["moduleClasses", "services", "URLGlobalScheme"], "of registrations")
    self.init(
      moduleClasses: try object.decodeIfPresent([Module].self, forKey: "moduleClasses") ?? [],
      services: try object.decodeIfPresent([Service].self, forKey: "services") ?? [],
      urlGlobalScheme: try object.decodeIfPresent(String.self, forKey: "URLGlobalScheme"))
  }

  /// Writes the first shape.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: FileKey.self)
    try object.encode(moduleClasses, forKey: "moduleClasses")
    try object.encode(services, forKey: "services")
    try object.encodeIfPresent(urlGlobalScheme, forKey: "URLGlobalScheme")
  }
}

extension Registrations.Module {
  /// Reads a module; everything but its class may be missing.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.object(
      [
        "moduleClass", "version", "moduleLevel", "level", "modulePriority", "priority", "requires",
        "after",
      ], "of a module")
    let priority = try object.one(of: "modulePriority", "priority")
    self.init(
      moduleClass: try object.name("moduleClass"),
      version: try object.decodeIfPresent(String.self, forKey: "version"),
      moduleLevel: try object.level(object.one(of: "moduleLevel", "level")),
      modulePriority: try object.decodeIfPresent(Int.self, forKey: priority) ?? 0,
      requires: try object.decodeIfPresent([String].self, forKey: "requires") ?? [],
      after: try object.decodeIfPresent([String].self, forKey: "after") ?? [])
  }

  /// Writes the level as BeeHive's number.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: FileKey.self)
    try object.encode(moduleClass, forKey: "moduleClass")
    try object.encodeIfPresent(version, forKey: "version")
    try object.encode(moduleLevel == .basic ? 0 : 1, forKey: "moduleLevel")
    try object.encode(modulePriority, forKey: "modulePriority")
    try object.encode(requires, forKey: "requires")
    try object.encode(after, forKey: "after")
  }
}

extension Registrations.Service {
  /// Reads a service; everything but the two names may be missing.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.object(
      ["service", "impl", "name", "scope", "priority"], "of a service")
    self.init(
      service: try object.name("service"), impl: try object.name("impl"),
      name: try object.decodeIfPresent(String.self, forKey: "name"), scope: try object.scope(),
      priority: try object.decodeIfPresent(Int.self, forKey: "priority") ?? 0)
  }
}

extension KeyedDecodingContainer<FileKey> {
  /// Returns the second of two keys for one thing if the file has it, else the first. Throws if it has both.
  fileprivate func one(of word: Key, _ other: Key) throws -> Key {
    guard contains(other) else { return word }
    guard !contains(word) else {
      throw corrupted(other, "\(word.stringValue) says it already; keep one of the two")
    }
    return other
  }

  /// Reads a name. Throws if it is empty.
  fileprivate func name(_ key: Key) throws -> String {
    let name = try decode(String.self, forKey: key)
    if name.isEmpty { throw corrupted(key, "the name is empty") }
    return name
  }

  fileprivate func level(_ key: Key) throws -> ModuleLevel {
    guard contains(key) else { return .normal }
    let number = try? decode(Int.self, forKey: key)
    let text = try? decode(String.self, forKey: key)
    switch (number, text) {
    case (0, _), (_, "basic"): return .basic
    case (1, _), (_, "normal"): return .normal
    default: throw corrupted(key, "a level is 0 or basic, 1 or normal")
    }
  }

  fileprivate func scope() throws -> Scope {
    guard let text = try decodeIfPresent(String.self, forKey: "scope") else { return .transient }
    guard let scope = Scope(rawValue: text) else {
      let known = Scope.allCases.map(\.rawValue).joined(separator: ", ")
      throw corrupted("scope", "a scope is one of \(known), not \(text)")
    }
    return scope
  }

  private func corrupted(_ key: Key, _ message: String) -> DecodingError {
    .dataCorruptedError(forKey: key, in: self, debugDescription: message)
  }
}
