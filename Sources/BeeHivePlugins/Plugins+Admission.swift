internal import BeeHive
public import BinaryImage
public import PluginFiles
internal import Threads

extension Plugins {
  /// What is asked of plugins beyond what makes them work; `BEEHIVE_PLUGINS=off` in the environment admits none.
  public var policy: PluginPolicy {
    get { settings.withLock { $0.policy } }
    nonmutating set { settings.withLock { $0.policy = newValue } }
  }

  /// Has each plugin that nothing else refuses verified by the host: its signature, perhaps.
  ///
  ///     hive.plugins.verify { descriptor, path in try keys.check(path + ".sig", of: descriptor) }
  ///
  /// - Parameter verification: Is given the open file and its path, and throws why it is refused. It reads the
  ///   descriptor at offsets of its own (`pread`), and leaves it open.
  public func verify(with verification: @escaping @Sendable (Int32, String) throws -> Void) {
    settings.withLock { $0.verification = verification }
  }

  /// Adds the directories that a variable of the environment lists, with colons between them.
  ///
  /// Those that are not absolute are left out. So is everything where the program has more rights than the user
  /// who started it (`AT_SECURE`): that user says what the variable says.
  ///
  /// - Parameter variable: Its name.
  /// - Returns: What takes them out again, in their order; nothing where the variable is not set, or is not heeded.
  /// - Throws: `ImageError` where one of the directories cannot be read; those before it are added.
  @discardableResult
  public func add(directoriesFrom variable: String) throws(ImageError) -> [Handle] {
    var handles: [Handle] = []
    for path in trustedVariable(variable)?.split(separator: ":") ?? []
    where path.hasPrefix("/") {
      handles.append(try add(directory: String(path)))
    }
    return handles
  }

  /// Judges which plugins this process would load, in which order, and why not the others. Nothing is loaded.
  ///
  /// Directories that were added first come first: of two files of one name theirs is meant.
  ///
  /// - Returns: What becomes of each plugin, as of the last ``refresh()``.
  /// - Throws: `ImageError` where the program's own file cannot be read.
  public func admission() throws(ImageError) -> AdmissionReport {
    let modules = hive.entries.filter { entry in
      if entry.kind == .module, case .rejected = entry.state { return false }
      return entry.kind == .module
    }
    let attributes = Dictionary(
      modules.map { ($0.name, $0.attributes) }, uniquingKeysWith: { first, _ in first })
    var policy = policy
    let verification = settings.withLock { $0.verification }
    if trustedVariable("BEEHIVE_PLUGINS") == "off" {
      policy.switchedOff = "BEEHIVE_PLUGINS=off is in the environment"
    }
    var admission = Admission(
      to: try AdmissionHost(modules: attributes), under: policy, verification: verification)
    for candidate in store.catalogue.candidates { admission.add(candidate) }
    return admission.report()
  }

  /// The paths of the plugins that this process would load, providers first; open them with `dlopen` in this order.
  ///
  /// - Throws: `ImageError` where the program's own file cannot be read.
  public var admitted: [String] {
    get throws(ImageError) { try admission().admitted }
  }

  private var settings: Lock<AdmissionSettings> {
    hive.attachment { _ in Lock(AdmissionSettings()) }
  }
}

/// What one Hive asks of plugins.
private struct AdmissionSettings {
  var policy = PluginPolicy()
  var verification: (@Sendable (Int32, String) throws -> Void)?
}
