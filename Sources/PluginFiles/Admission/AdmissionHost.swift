package import BinaryImage
internal import LibC
package import Registration

/// The process that plugins are to be loaded into: a program that is not started, or this one.
package struct AdmissionHost {
  /// The program's path.
  package let path: String
  /// The identity of the program.
  package let identity: ImageIdentity
  /// The problems of libraries that are not found or cannot be read, and of such an interpreter.
  package private(set) var problems: [ImageError] = []
  /// Libraries whose files were removed or replaced after they were loaded: the loader's names, and their ranges.
  private(set) var replaced: [(name: String, ranges: [MappedRange])] = []
  /// The program and its libraries.
  var libraries = LibrarySet()
  /// The plugins that the user of the program has switched off.
  private(set) var switches = PluginSwitches()
  let search: LibrarySearch
  /// Whether the kernel forbids running memory that the process may write.
  private(set) var keepsCode = false
  /// A plugin that the process has loaded, whose symbols other files do not get: the loader's name for it, its file,
  /// its id if it has one, and whether the Hive has its entries.
  package typealias LoadedPlugin = (
    name: String, path: String, stamp: FileStamp, id: String?, runs: Bool
  )
  /// The plugins that it has loaded.
  private(set) var plugins: [LoadedPlugin] = []
  /// The modules that are there without any plugin, by name.
  private(set) var modules: [String: Attributes] = [:]

  /// The number of libraries that the process has besides its program.
  package var count: Int { libraries.members.count - 1 }
  /// Whether the runtime is in it, or is not found.
  package var hasHive: Bool {
    libraries.members.contains { $0.linkage.carriesRuntime } || libraries.lacks("libBeeHive.so")
  }

  /// Describes a program, with the libraries that the loader would open with it.
  ///
  /// - Parameters:
  ///   - path: The program.
  ///   - libraryPath: `LD_LIBRARY_PATH` for the start of the program; by default that of this process's start.
  /// - Throws: ``ImageError`` if the file is no program, or cannot be read.
  package init(
    executable path: String, libraryPath: String? = startVariable("LD_LIBRARY_PATH")
  ) throws(ImageError) {
    let file = try OpenedFile(path: path.resolved)
    let program = try Library(of: file)
    try file.check(
      program.image.identity.kind == .executable, .unsupported,
      "It is no executable: name the program that opens the plugins.")
    self.init(path, program, searchPath(libraryPath))
    switches = PluginSwitches(of: path.resolved.fileName)
    if file.givesRights {
      problems.append(
        file.error(
          .unsupported,
          "It gets more rights than the user who starts it (set-user-ID, set-group-ID, capabilities): then the loader "
            + "ignores LD_LIBRARY_PATH, and $ORIGIN outside the system's folders."))
    }
    if let problem = problem(ofInterpreter: program.interpreter ?? "") {
      problems.append(file.error(.unreadable, problem))
    }
    libraries.add(program)
    libraries.addNeeded(from: 0, search)
    problems += libraries.missing.map { missing in
      let message = "It needs the library \(missing.name), \(missing.reason)"
      return missing.requester.file.error(.unreadable, message)
    }
    for library in libraries.members where !library.isSystem {
      do throws(ImageError) {
        let records = try library.scan.get().records.filter { $0.kind == .module }
        modules.merge(records.map { ($0.name, $0.attributes) }) { first, _ in first }
      } catch { problems.append(error) }
    }
  }

  /// Describes this process, with everything that is loaded into it.
  ///
  /// - Parameters:
  ///   - modules: The modules that exist, by name.
  ///   - plugins: The plugins that were loaded.
  ///   - strays: The loader's names for other images that were opened for plugins.
  /// - Throws: ``ImageError`` if its program cannot be read.
  package init(
    modules: [String: Attributes] = [:], plugins: [LoadedPlugin] = [], strays: Set<String> = []
  ) throws(ImageError) {
    let own = strays.union(plugins.map(\.name))
    var list = ImageList()
    try list.update()
    let images = list.named.filter { $0.image.role != .vdso }
    let ranges = MappedRange.ofThisProcess()
    let (path, place) = ranges.program(of: images.first)
    let program = try Library(of: OpenedFile(path: place, name: path))
    self.init(path, program, nil)
    switches = PluginSwitches(of: ownProgram)
    keepsCode = processKeepsCode()
    libraries.add(program)
    let files = Dictionary(grouping: ranges) { [$0.path, $0.fileID] }
    for (image, path) in images.dropFirst() {
      do throws(ImageError) {
        let range = ranges.range(of: image)
        if let range, range.isOfDeletedFile {
          replaced.append((image.name, files[[range.path, range.fileID]] ?? []))
          throw ImageError(
            .unreadable, image: path,
            message: "The file was removed or replaced after this process had loaded it.")
        }
        // The loader's name may be a link that leads elsewhere by now.
        let mapped = range.flatMap { range in
          let status = fileStatus(of: range.path.utf8, followingLinks: false)
          return status.map { String($0.st_ino) } == range.fileID ? range.path : nil
        }
        let place = mapped ?? path
        libraries.add(try Library(of: OpenedFile(path: place, name: path)), as: image.name)
      } catch {
        // A plugin was opened only for itself, by a path that no other file needs: it defines nothing for others.
        guard !own.contains(image.name) else { continue }
        libraries.addUnread(path)
        problems.append(error)
      }
    }
    libraries.addNamesOfFiles()
    libraries.noteOpened()
    self.modules = modules
    self.plugins = plugins
  }

  private init(_ path: String, _ program: Library, _ environment: [String]?) {
    (self.path, identity) = (path, program.image.identity)
    search = LibrarySearch(of: program, environment: environment)
  }
}
