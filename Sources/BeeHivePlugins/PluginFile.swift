public import BeeHive
internal import BinaryImage
internal import PluginFiles
internal import Registration

/// A plugin's file, as it was read: what it is, what it offers and what that requires.
public struct PluginFile: Hashable, Sendable {
  /// What an entry of the file requires of others.
  public struct Requirement: Hashable, Sendable {
    /// The name of the module that is required.
    public var name: String
    /// Which versions of it will do, such as `>=1.2 <2`; empty where every version will.
    public var versions: String
    /// The name of the entry that requires it.
    public var requirer: String
    /// Whether it is only to start first where it is there.
    public var isOptional: Bool
  }

  /// The path by which it was found first.
  public var path: String
  /// Further paths that lead to the same file.
  public var otherPaths: [String]
  /// The machine that it is for: `x86_64`, `aarch64`, …
  public var machine: String
  /// The size of an address in bits: 32 or 64.
  public var bits: Int
  /// The build-id in hexadecimal digits; empty where it has none.
  public var buildID: String
  /// The name that others link it by.
  public var soname: String?
  /// The names of the libraries that are opened with it.
  public var needed: [String]
  /// The version of the contract that its header wrote into it; nil where the file has no note, as one whose
  /// entries are written by hand.
  public var layoutVersion: Int?
  /// Whether it is Swift's: it needs the runtime, or has metadata of Swift's.
  public var usesSwift: Bool
  /// Whether this process has loaded it.
  public var isLoaded: Bool
  /// What it declares: first the well-formed entries in their order, then those that every Hive rejects. None is
  /// bound: what the Hive made of the entries of a loaded file is in ``Hive/entries``.
  public var entries: [Entry]
  /// What the entries require.
  public var requirements: [Requirement]

  /// Nil where the candidate is no plugin.
  init?(_ candidate: PluginCatalogue.Candidate, _ loaded: LoadedFiles) {
    guard let manifest = try? candidate.found.get() else { return nil }
    (path, otherPaths) = (candidate.path, candidate.otherPaths)
    (machine, bits) = (manifest.identity.machine, manifest.identity.bits)
    buildID = manifest.identity.id.hexadecimal
    (soname, needed) = (manifest.linkage.name, manifest.linkage.needed)
    layoutVersion = manifest.linkage.noteVersion
    usesSwift = manifest.swiftUse != .none
    isLoaded = loaded.contains(manifest)
    entries = Entry.unloaded(
      manifest.records, manifest.rejections,
      Problem(.notLoaded, "the file that declares it is not loaded; load it"))
    requirements = manifest.requirements.map {
      Requirement(
        name: $0.module.name, versions: $0.module.versions, requirer: $0.requirer,
        isOptional: $0.isOptional)
    }
  }
}
