internal import BinaryImage
internal import Registration
internal import SwiftContracts
internal import SwiftMetadata

/// A linked file of a process: the program, one of its libraries, a plugin, or a library that the plugin brings along.
final class Library {
  let file: OpenedFile
  let image: ELFFile
  let linkage: ELFLinkage
  let loading: ELFLoading
  /// The file that needs it first. Its search path may also count for the needs of this one.
  let requester: Library?
  /// Whether it is in a folder of the system's libraries.
  let isSystem: Bool
  /// Whether an earlier plugin has brought it.
  let isResident: Bool

  private(set) lazy var bindings = Result<ELFBindings, ImageError> { () throws(ImageError) in
    try ELFBindings(of: image)
  }

  /// The Swift protocols that it declares for others.
  private(set) lazy var contracts = Result<ContractLibrary, ImageError> { () throws(ImageError) in
    try ContractLibrary(of: image)
  }

  /// Its entries.
  private(set) lazy var scan = Result<Scan, ImageError> { () throws(ImageError) in
    try Scan(of: image)
  }

  /// The Swift types that it declares.
  private(set) lazy var types: DeclaredTypes = {
    var types = DeclaredTypes()
    types.add(.types, of: image)
    return types
  }()

  /// Reads the headers of an open file.
  ///
  /// - Throws: ``ImageError`` if it is no linked ELF file.
  init(
    of file: OpenedFile, for requester: Library? = nil, isSystem: Bool = false,
    isResident: Bool = false
  ) throws(ImageError) {
    self.file = file
    image = try ELFFile(file)
    linkage = try image.linkage()
    loading = try image.loading()
    (self.requester, self.isSystem, self.isResident) = (requester, isSystem, isResident)
  }

  var path: String { file.path }
  /// The loader that a program names: `PT_INTERP`.
  var interpreter: String? { (try? image.interpreter()) ?? nil }

  /// Whether it is a program, which no process opens.
  var isProgram: Bool { image.identity.kind == .executable }

  /// Whether Swift's toolchain brings it: those libraries are of one build, and declare nobody's contracts.
  var isOfToolchain: Bool {
    let own = ["libswift", "libFoundation", "lib_Foundation", "libdispatch.", "libBlocksRuntime."]
    return own.contains { path.fileName.hasPrefix($0) }
  }

  /// The beginning of a sentence about a plugin, or about a library that it brings along.
  var title: String { requester == nil ? "It" : "\(path), which it brings along," }

  /// The beginning of a sentence about a part of a plugin, or of a library that it brings along.
  var prefix: String { requester == nil ? "" : "\(path), which it brings along: " }

  /// Whether nothing finds its Swift tables, because it has no section headers.
  var hidesSwift: Bool {
    !image.hasSectionTable && linkage.needed.contains { $0.hasPrefix("libswift") }
  }

  /// Returns whether it follows the conventions of another system than the program. Any file may say System V.
  func isForeign(to program: Library?) -> Bool {
    let system = image.abi.system
    return system != 0 && system != program?.image.abi.system
  }

  /// Returns whether the loader maps it into the program's processes. The loader skips an optional file otherwise.
  func isMapped(beside program: Library?) throws(ImageError) -> Bool {
    try image.mappingObstacle() == nil && !file.isOnNoexecMount && !isForeign(to: program)
  }

  /// The folders of its search path as the loader spells them out.
  var knownFolders: [String] { known(loading.searchPaths) }

  /// The libraries that the loader opens with it, and whether the loader can do without a missing one.
  var companions: [(text: String, isOptional: Bool)] {
    linkage.auxiliary.map { ($0, true) } + linkage.needed.map { ($0, false) }
  }

  /// Returns folders as the loader spells them out for the file, without those that depend on the processor.
  func known(_ folders: [String]) -> [String] {
    folders.filter { !dependsOnProcessor($0) }.map { $0.isEmpty ? "." : expanded($0) }
  }

  /// Returns whether the loader asks the kernel for a part of a folder's name: `$PLATFORM`.
  func dependsOnProcessor(_ folder: String) -> Bool {
    folder.parts(at: UInt8(ascii: "$"), keepingEmpty: true).dropFirst().contains {
      $0.hasPrefix("PLATFORM") || $0.hasPrefix("{PLATFORM}")
    }
  }

  /// Returns the text with the values of the loader's tokens: `$ORIGIN` is the file's own folder.
  func expanded(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "$")) else { return text }
    let identity = image.identity
    return text.expanded([
      "ORIGIN": path.folder.absolute, "LIB": identity.libraryFolder, "PLATFORM": identity.machine,
    ])
  }
}
