internal import BinaryImage
internal import LibC
internal import Threads

/// The settings of an application, in layers: what is set at run time comes before the environment, that
/// before files, and those before defaults.
///
///     let port = Configuration.Key<Int>("server.port")
///     let settings = Configuration(
///       defaults: ["server": ["port": 80]], environmentPrefix: "SHOP")
///     settings.set(8080, for: "server.port")
///     let number = try settings.value(port)  // 8080
///
/// Shared by reference, so that a setting that changes is seen by every module; may be used from any
/// thread.
public final class Configuration: Sendable {
  /// A setting with its type, declared once: `static let port = Configuration.Key<Int>("port")`.
  public struct Key<Value: ConfigurationConvertible>: Sendable {
    /// The name; in files, dots lead into objects: `server.port`.
    public let name: String
    /// What holds where no layer says anything; nil makes a missing setting an error.
    package let defaultValue: Value?

    /// Names a setting.
    ///
    /// - Parameters:
    ///   - name: The name; dots lead into objects: `server.port`.
    ///   - defaultValue: Used if no layer has the setting; nil makes a missing setting an error.
    public init(_ name: String, default defaultValue: Value? = nil) {
      self.name = name
      self.defaultValue = defaultValue
    }
  }

  /// Where a setting came from.
  public enum Layer: String, Hashable, Sendable, CaseIterable {
    /// `set` was called.
    case runtime
    /// An environment variable.
    case environment
    /// A file that the host decoded, or another source it added; the one that was added last comes first.
    case file
    /// What the application gave as defaults.
    case defaults
  }

  private typealias Source = (name: String, lookup: @Sendable (String) -> ConfigurationValue?)

  private let runtime = Lock<[String: ConfigurationValue]>([:])
  private let sources = Lock<[Source]>([])
  private let defaults: [String: ConfigurationValue]
  private let prefix: String?

  /// Creates a configuration with defaults and, if a prefix is given, the environment.
  ///
  /// - Parameters:
  ///   - defaults: The last layer: used if no other layer has the setting.
  ///   - prefix: Makes the environment a layer: with `APP`, `server.port` is the variable
  ///     `APP_SERVER_PORT`. Nil leaves the environment out.
  public init(
    defaults: [String: ConfigurationValue] = [:], environmentPrefix prefix: String? = nil
  ) {
    self.defaults = defaults
    self.prefix = prefix
  }

  /// Adds the settings of a file, before those of the files that were added earlier.
  ///
  /// - Parameters:
  ///   - name: What errors call the file, often its path. The file is not opened.
  ///   - values: The decoded contents.
  public func add(file name: String, _ values: [String: ConfigurationValue]) {
    add(source: name) { values.value(at: $0) }
  }

  /// Adds a source that is asked each time a setting is read, such as another configuration library. It
  /// has the rank of a file.
  ///
  /// - Parameters:
  ///   - name: What errors call the source.
  ///   - lookup: Returns the value of a setting's name, nil if the source has none. Runs on the thread that
  ///     reads the setting, with no lock held.
  public func add(
    source name: String, _ lookup: @escaping @Sendable (String) -> ConfigurationValue?
  ) {
    sources.withLock { $0.insert((name, lookup), at: 0) }
  }

  /// Sets a value at run time, before every other layer.
  ///
  /// - Parameters:
  ///   - value: The value; nil removes the one that was set here, so the other layers count again.
  ///   - name: The setting's name, as its key has it.
  public func set(_ value: ConfigurationValue?, for name: String) {
    runtime.withLock { $0[name] = value }
  }

  /// Returns a setting that must be there.
  ///
  /// - Parameter key: The setting, with its type and default.
  /// - Returns: The value of the first layer that has it, else the key's default.
  /// - Throws: ``Problem`` of the code `missing-setting` if no layer has it and the key has no default, `wrong-type` if
  ///   its value cannot be read as the key's type.
  public func value<Value>(_ key: Key<Value>) throws(Problem) -> Value {
    guard let found = find(key.name) else {
      if let value = key.defaultValue { return value }
      throw Problem(
        .missingSetting,
        "configuration \(key.name): no layer sets it; set it in a file"
          + (variable(key.name).map { ", or the environment variable \($0)" } ?? "")
          + ", or give the key a default")
    }
    if let value = Value(configuration: found.value) { return value }
    throw Problem(
      .wrongType,
      "configuration \(key.name): \(found.place) says \(found.value), which is no \(Value.self)")
  }

  /// Returns the layer that a setting comes from.
  ///
  /// - Parameter name: The setting's name, as its key has it.
  /// - Returns: The first layer that has it; nil if none has. A key's own default is no layer.
  public func layer(of name: String) -> Layer? { find(name)?.layer }

  private typealias Found = (value: ConfigurationValue, layer: Layer, place: String)

  private func find(_ name: String) -> Found? {
    if let value = runtime.withLock({ $0[name] }) {
      return (value, .runtime, "the value set at run time")
    }
    if let variable = variable(name), let text = unsafe getenv(variable) {
      let value = unsafe ConfigurationValue.string(String(cString: text))
      return (value, .environment, "the environment variable \(variable)")
    }
    for source in sources.withLock({ $0 }) {
      if let value = source.lookup(name) { return (value, .file, source.name) }
    }
    return defaults.value(at: name).map { ($0, .defaults, "the default") }
  }

  /// The environment variable of a setting.
  private func variable(_ name: String) -> String? {
    prefix.map { prefix in
      let words = name.uppercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }
      return "\(prefix)_\(String(words))"
    }
  }
}

extension [String: ConfigurationValue] {
  /// The value of a name, whole or by the objects that its dots lead into.
  fileprivate func value(at name: String) -> ConfigurationValue? {
    if let value = self[name] { return value }
    guard let dot = name.firstIndex(of: "."),
      case .object(let inner)? = self[String(name[..<dot])]
    else { return nil }
    return inner.value(at: String(name[name.index(after: dot)...]))
  }
}

extension ConfigurationValue: CustomStringConvertible {
  /// The value as a person would write it.
  public var description: String {
    switch self {
    case .string(let text): "\"\(text)\""
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    case .array(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .object(let values):
      "{\(values.keys.sorted().joined(separator: ", "))}"
    }
  }
}
