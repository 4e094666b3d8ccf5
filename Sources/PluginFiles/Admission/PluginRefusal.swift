package import Registration

/// The reason that a plugin is not admitted.
public struct PluginRefusal: Hashable, Sendable, Encodable {
  /// The causes that admission itself knows. A file that cannot be read has the code that it has everywhere.
  package enum Code: String, Sendable, CaseIterable {
    /// The file is made for another machine, word size or byte order than the host.
    case wrongMachine = "wrong-machine"
    /// The file follows the conventions of another system, or calls functions in another way.
    case wrongABI = "wrong-abi"
    /// The file was built with a newer toolkit, whose entries this one cannot read.
    case toolkitVersion = "toolkit-version"
    /// The file contains a second runtime, or brings one along: the host does not see what it registers there.
    case ownRuntime = "own-runtime"
    /// `dlopen` refuses the file or ends the process, or the judged files cannot be opened as the policy requires.
    case notLoadable = "not-loadable"
    /// Loading the file would map more files, or more bytes, than a plugin may bring.
    case tooLarge = "too-large"
    /// The loader does not find a library that the file needs.
    case missingLibrary = "missing-library"
    /// No library of the host or of the file defines a symbol that the file needs.
    case undefinedSymbol = "undefined-symbol"
    /// The file, or a folder that leads to it, belongs to a user other than root and the host's.
    case foreignOwner = "foreign-owner"
    /// Others than its owner may write to the file, or to a folder that leads to it.
    case writableByOthers = "writable-by-others"
    /// The file, or the host, looks for libraries in a folder that depends on where the host was started, or that others
    /// may write to or make.
    case unsafeSearchPath = "unsafe-search-path"
    /// The file asks for an executable stack.
    case executableStack = "executable-stack"
    /// The loader has to write into the code of the file.
    case textRelocations = "text-relocations"
    /// The file runs more than the announcement of its entries when it is loaded.
    case runsAtStartup = "runs-at-startup"
    /// It was built against other contracts than the host's: it would call, and answer, the wrong functions.
    case contractDrift = "contract-drift"
    /// Nothing shows whether it was built against the host's contracts, and the policy refuses that.
    case contractUnseen = "contract-not-visible"
    /// All plugins are switched off, or the user or the host has switched this one off.
    case switchedOff = "switched-off"
    /// A process ended while it loaded this very file.
    case quarantined
    /// The policy denies a name of the file, or of a library that it brings along.
    case denied
    /// The policy allows other names only: no name of the file, or of a library that it brings along.
    case notAllowed = "not-allowed"
    /// The host's own verification, perhaps of a signature, refuses the file or a library that it brings along.
    case signature
    /// A module requires a module that neither the host nor another plugin has, or another version of it.
    case unmetRequirement = "unmet-requirement"
    /// Modules wait for each other, so none of them can start.
    case cycle
    /// The host would reject one of its entries, and the policy refuses that.
    case rejectedEntry = "rejected-entry"
    /// A plugin or library that it needs is not admitted itself.
    case refusedProvider = "refused-provider"
    /// Another file has a higher version of the same plugin, and loads.
    case superseded
    /// The policy requires other versions of the plugin.
    case otherVersion = "other-version"
    /// An admitted plugin of the same file name is in a folder that comes first.
    case shadowed
    /// The file was changed or replaced while it was read, or a process has it open for writing.
    case changed
  }

  /// Stable; listed in Docs/problems.md.
  public var code: String
  /// The finding, in a sentence that names what was expected.
  public var message: String
  /// The value that would be admitted; nil if there is no single one.
  package var expected: String?
  /// The value that was found instead.
  package var found: String?
  /// The remedy.
  package var advice: Remedy
  /// The remedy, in a sentence.
  public var remedy: String { advice.sentence }
  /// The plugin that caused this; nil if the cause is in the file itself.
  package var cause: String?

  /// Describes the cause and the remedy.
  package init(
    _ code: Code, _ message: String, expected: String? = nil, found: String? = nil, remedy: Remedy,
    cause: String? = nil
  ) {
    (self.code, self.message, self.advice) = (code.rawValue, message, remedy)
    (self.expected, self.found, self.cause) = (expected, found, cause)
  }
}

extension PluginRefusal: CustomDebugStringConvertible {
  /// The code and the message: also in the text of a state.
  public var debugDescription: String { "[\(code)] \(message)" }
}
