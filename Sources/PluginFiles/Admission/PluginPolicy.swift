/// A host's conditions for plugins, beyond those that make them work.
///
/// Machine, symbols, libraries and requirements are always checked; these are choices.
public struct PluginPolicy: Hashable, Sendable, Codable {
  /// The code that a plugin may run by itself when it is loaded.
  public enum Startup: String, Hashable, Sendable, Codable, CaseIterable {
    /// Anything.
    case anything
    /// Only code that announces its entries, and code that compilers link into every library.
    case anchor
  }

  /// The treatment of a plugin that does not show which contracts it was built against.
  public enum Unseen: String, Hashable, Sendable, Codable, CaseIterable {
    /// It is admitted, and the report says so.
    case admit
    /// It is refused.
    case refuse
  }

  /// The table of a service in C, as the host's header declares it.
  public struct Table: Hashable, Sendable, Codable {
    /// The name of the service.
    package var service: String
    /// The bytes of the structure; that of a plugin may be larger.
    package var size: Int
    /// The version that the header has for `BEEHIVE_ABI`; nil for none.
    package var version: String?

    /// Describes a table: `PluginPolicy.Table(service: "Discount", size: MemoryLayout<discount>.size)`.
    public init(service: String, size: Int, version: String? = nil) {
      (self.service, self.size, self.version) = (service, size, version)
    }
  }

  /// The reason that no plugin is admitted at all; nil if plugins are not switched off.
  public var switchedOff: String?
  /// The names of the files that are admitted, as a shell matches them; if empty, all files are.
  ///
  /// Plugins and the libraries that they bring along need a name in the list; the system's libraries do not. A file has
  /// every name that leads to it in its folders, links and hard links too.
  public var allowed: [String] = []
  /// The names of the files that are refused, as a shell matches them; they win over `allowed`.
  ///
  /// They also refuse libraries that plugins bring along, and match sonames and the names that files need others by.
  public var denied: [String] = []
  /// The versions that are admitted, by the plugin's id or file: `["com.example.greet": ">=1.2 <2"]`; any if it has none.
  public var versions: [String: String] = [:]
  /// Whether the file and each folder above it must belong to root or the host's user, who alone may write to it.
  public var checksOwners = true
  /// Whether search paths may have only folders, absolute or relative to the file, that no one else may write or make.
  public var checksSearchPaths = true
  /// Whether an executable stack is admitted.
  public var admitsExecutableStacks = true
  /// Whether relocations that write into code are admitted.
  public var admitsTextRelocations = true
  /// Whether a plugin is admitted even if an entry would be rejected: it cannot be read, or is a duplicate.
  public var admitsRejectedEntries = true
  /// The code that may run when the plugin is loaded.
  public var startup = Startup.anything
  /// The tables of functions that the host expects of services in C.
  public var tables: [Table] = []
  /// The treatment of contracts that the files do not show.
  public var unseenContracts = Unseen.admit

  /// Whether a plugin is opened through links to the judged files, instead of by their paths.
  package var opensJudgedFiles = false

  /// Checks the owners and the search paths, and nothing else.
  public init() {}

  /// A policy with every check that needs no lists.
  public static var strict: PluginPolicy {
    var policy = PluginPolicy()
    (policy.admitsExecutableStacks, policy.admitsTextRelocations) = (false, false)
    (policy.startup, policy.unseenContracts) = (.anchor, .refuse)
    (policy.admitsRejectedEntries, policy.opensJudgedFiles) = (false, true)
    return policy
  }
}
