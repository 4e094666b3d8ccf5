package import BinaryImage

/// A remedy for something that is wrong.
///
/// The table below has all remedies that the Hive's reports and the commands print, so that they agree.
package struct Remedy: Hashable, Codable, Sendable, CustomStringConvertible {
  /// A clause that begins with a small letter and has no full stop.
  package let description: String
  /// The same as a sentence.
  package var sentence: String {
    "\(description.prefix(1).uppercased())\(description.dropFirst())."
  }

  fileprivate init(_ clause: String) { description = clause }
}

// MARK: What cannot be read

extension ImageError {
  /// The remedy, for somebody who has the file and perhaps its source.
  package var remedy: Remedy {
    if let reason = Rejection.Reason(rawValue: code.rawValue) { return reason.remedy }
    return switch code {
    case .unreadable where message.saysTooManyFiles:
      Remedy("close some files, or raise the limit of open files (ulimit -n)")
    case .unreadable: Remedy("correct the path or the permissions")
    case .notAnObject: Remedy("leave the file out, or name what it was built from")
    case .truncated:
      Remedy("copy or build the file again; it was cut off, or something overwrote it")
    case .noSuchArchitecture: Remedy("name another --arch, or a file that was built for this one")
    case .sectionTableMissing:
      Remedy("name the file as it was before its section headers were stripped")
    case .noContents:
      Remedy("name the file that is loaded; this one has its debug information alone")
    case .noEntries: Remedy("leave it out, or name the file that is loaded")
    case .encrypted: Remedy("name the file as it was built, before a store encrypted it")
    case .unsupported: Remedy("do what the message says, or build the file in another form")
    default: Remedy("build the file again; its parts contradict each other")
    }
  }
}

extension Rejection.Reason {
  /// The place to look at. The message of an entry says what is wrong with it.
  package var remedy: Remedy {
    switch self {
    case .unknownVersion, .unknownKind:
      Remedy("read it with a newer section-dump, or build it against an older BeeHive.h")
    case .badPattern: Remedy("write the pattern in the notation of Docs/routing.md")
    case .badAction: Remedy("write each action once, as name(parameter: Type) -> Type")
    case .unknownType: Remedy("declare a String, Int, Double or Bool")
    case .badIdentity: Remedy("write one BEEHIVE_PLUGIN with an id and a version")
    case .unreadableSection:
      Remedy("build the file again as the message says, or name it as it was before it was changed")
    case .limitExceeded: Remedy("split the file; no scan reads more")
    default: Remedy("correct the entry in its source, or declare it with BeeHive.h")
    }
  }
}

extension Remedy {
  package static let raiseLimit = Self("raise --max-bytes")
  package static let leaveOutOfChild = Self(
    "leave the file out: reading it takes more memory or time than a child is given")
  package static let rebuildMetadata = Self(
    "build the file again; its Swift metadata contradicts itself")
  package static let unstripped = Self(
    "take the file as it was before its section headers were stripped")
}

// MARK: Entries

extension Remedy {
  package static let correctEntry = Self("correct the entry")
  package static func rename(to meant: String) -> Self {
    Self("call it \(meant), or by a name that is less like that")
  }
  package static func renameSection(to meant: String) -> Self {
    Self("call it \(meant), or declare its entries with BeeHive.h")
  }
  package static func give(to owner: RecordKind) -> Self {
    Self("leave it out, or give it to the \(owner) that it is meant for")
  }
  package static let addAction = Self("add it to the table, or correct the name in one of the two")
  package static func retain(in format: ImageIdentity.Format) -> Self {
    format == .elf
      ? Self(
        "declare them with BeeHive.h, and without BEEHIVE_WITHOUT_RETAIN, or add retain to their attributes"
      )
      : Self("declare them with BeeHive.h, or as no_dead_strip")
  }

  /// Returns the remedy for two entries of a kind that nothing tells apart.
  package static func distinguish(_ kind: RecordKind) -> Self {
    switch kind {
    case .service: Self("give one of them a name or a priority")
    case .route: Self("give one of them a priority, or another pattern")
    default: Self("rename or remove one of them")
    }
  }
  package static let distinguishInC = Self("give one of them BEEHIVE_NAME or BEEHIVE_PRIORITY")
  package static let unregisterFirst = Self("unregister the first one before you register another")
  package static let renameFile = Self("give each file a name of its own")

  /// Returns the remedy for a required module that is missing; `addition` is "add the file that".
  static func meet(_ required: ModuleRequirement, by addition: String) -> Self {
    required.mayMeanVersions || required.name.contains(",")
      ? Self(
        "say which versions will do as in \"log >=1.2 <2\", and one module in each requirement")
      : Self("\(addition) declares it, or say after instead of requires")
  }
  static let meetVersion = Self("use files that belong together, or say which versions will do")
  static let addProvider = Self(
    "add the file that declares it, unless the host registers it by code")
  static func breakCycle(of kind: RecordKind) -> Self {
    Self("drop one of these \(kind == .service ? "needs" : "requirements")")
  }
  static func openScope(in kind: RecordKind) -> Self {
    Self("let it open a scope and ask the scope\(kind == .module ? "" : ", or make it scoped too")")
  }
}

// MARK: Files

extension Remedy {
  package static let addFile = Self("add the file that has it, or correct the name")
  package static let linkObject = Self(
    "link this object; its archive between -Wl,--whole-archive and -Wl,--no-whole-archive")
  package static func linkWhole(in format: ImageIdentity.Format) -> Self {
    format == .elf
      ? Self("link the archive between -Wl,--whole-archive and -Wl,--no-whole-archive")
      : Self("link the archive with -Wl,-force_load")
  }
  package static let linkEntries = Self(
    "link the target that declares them into it, with retain; name its objects or archives "
      + "too, to see what was dropped")
  package static let nameFiles = Self("name the files that should have entries")
  package static func nameFiles(of entry: String) -> Self {
    Self(
      "name the files that are to have it: section-dump why \(entry) FILES; of plugins that were not loaded, or "
        + "unloaded, hive.plugins.report() says why")
  }
  package static let nameFolder = Self("name it too if it has plugins")
  package static let askForKind = Self("ask for a kind and a name, as in module:shop")
  package static let unhide = Self("give it a name that begins with no point")
  package static let leaveOutCopy = Self(
    "leave one of them out, unless they are for different hosts: a process that loads both rejects one of each entry"
  )
  package static let fixFirst = Self("fix those first")
}

// MARK: Swift types, runtimes and contracts

extension Remedy {
  package static let conform = Self("conform it, or bind it by code")
  package static func addType(orBy code: String) -> Self {
    Self("add the file that has it, correct the name, or \(code) by code")
  }
  package static func publish(orBy code: String) -> Self {
    Self("declare it without private and outside of functions, or \(code) by code")
  }
  package static let nameLibrary = Self(
    "name the library that has the type, as it is linked and with its sections")
  package static let shareContracts = Self(
    "put the contracts into one dynamic library that all link")
  package static let shareType = Self(
    "keep it in one file, or put it into a dynamic library that both link")
  package static let shareModule = Self("put the module into one dynamic library that both link")
  package static let shareRuntime = Self("link both against the same libBeeHive.so")
  package static let shareSwift = Self(
    "build it without --static-swift-stdlib, in swiftc -static-stdlib")
  package static let linkContracts = Self(
    "link the contracts library instead of compiling its sources into the plugin")
  package static let rebuildForContracts = Self(
    "build the plugin again, against the contracts that it is loaded with")
  package static let versionTable = Self("give the table a version on both sides, with BEEHIVE_ABI")
  package static let fitTable = Self(
    "build it with the header of the host, and give its table that version with BEEHIVE_ABI")
  package static let versionContracts = Self(
    "build the contracts with -enable-library-evolution, or give them a version that clients refer to"
  )
}

// MARK: Plugins that the loader does not open

extension Remedy {
  package static func build(for machine: String) -> Self {
    Self("build it for \(machine), or take it out of the folder")
  }
  package static let buildAsHost = Self(
    "build it with the compiler and the options that the host was built with")
  package static let updateHost = Self("build it with the toolkit of the host, or update the host")
  package static let linkRuntime = Self("link it with libBeeHive.so, or in C with the header alone")
  package static let linkSameRuntime = Self(
    "link the plugin and the host with the same libBeeHive.so")
  package static let bringLess = Self("link it with fewer libraries, or with smaller ones")
  package static let linkForLoader = Self(
    "link it anew with -shared, of objects that were not stripped, without -z nodlopen, -z max-page-size "
      + "and --pack-dyn-relocs")
  package static let renamePath = Self("rename the file or the folder")
  package static let moveFromNoexec = Self(
    "copy it to another file system, or mount that one without noexec")
  package static func install(beside place: String) -> Self {
    Self("install it, or put it next to \(place) and link \(place) with -Wl,-rpath,'$ORIGIN'")
  }
  package static let passObstacle = Self(
    "link it with the library that the host has, or put a readable library into an earlier folder of the search path"
  )
  package static let shortenPath = Self(
    "link it anew with a shorter search path: one folder is enough")
  package static let buildForAllProcessors = Self(
    "put a build for all processors into the folder of its search path")
  package static let replaceLibrary = Self("put a library in its place that the host can load")
  package static func relink(with library: String) -> Self {
    Self("link it with \(library) again; a tool has removed that dependency")
  }
  package static func linkHosts(_ library: String) -> Self {
    Self("link it with the host's \(library), or install the version that it was linked with")
  }
  package static let buildWithItsHeader = Self(
    "build it with the header of the library that it gets")
  package static func define(_ count: Int) -> Self {
    let them = count == 1 ? "it" : "them"
    return Self(
      "link it with the library that defines \(them), or build it against the host's version")
  }
  package static let exportSymbols = Self(
    "link the host with -rdynamic: its program has the definition but does not export it")
  package static let linkOneLibrary = Self(
    "link both plugins with one library, or give one of the two another soname")
}

// MARK: Plugins that a policy refuses

extension Remedy {
  package static let admitDenied = Self(
    "take the name off the list of what is denied, or the file out of the folder")
  package static let allow = Self(
    "add the name to the list of what is allowed, or take the file out of the folder")
  package static let buildForOlder = Self("build it for older processors: -march=x86-64")
  package static let writeVersions = Self("write them as >=1.2 <2")
  package static let installVersion = Self(
    "install a version that the host works with, or update the host")
  package static let linkWithSoname = Self(
    "link it with a library that has a soname without $, and with -Wl,-rpath")
  package static func linkSoname(_ name: String) -> Self {
    Self("link it with -Wl,-soname,\(name.fileName), and then what needs it")
  }
  package static func linkWithoutAuxiliary(_ name: String) -> Self {
    Self("link it without -Wl,--auxiliary,\(name)")
  }
  package static let linkIntoOne = Self("link both into one library")
  package static let linkInUTF8 = Self("link it anew with names in UTF-8")
  package static let lookLater = Self("look again when the process that writes it has ended")
  package static let lookAgain = Self(
    "look again when none are being installed, in a host after hive.plugins.refresh()")
  package static let linkNoexecstack = Self(
    "link it with -Wl,-z,noexecstack; an assembler source needs .note.GNU-stack")
  package static let compilePIC = Self("compile all of it with -fPIC")
  package static let startInSetUp = Self(
    "do that in a module's setUp, or admit it: policy.startup = .anything, --startup anything. section-dump startup "
      + "lists everything that runs")
  package static let keepNames = Self(
    "strip it with --strip-debug, which keeps the names of functions; section-dump startup lists everything that runs"
  )
  package static let writeAbsolutePath = Self(
    "write it there with an absolute path, or leave it out")
  package static let linkAbsolutePath = Self(
    "link it with -Wl,-rpath,'$ORIGIN' and libraries that have a soname, or with an absolute path")
  package static let linkPathInUTF8 = Self("link it with a path in UTF-8")
  package static let writeTarget = Self("write the path of the folder that it leads to")
  package static let giveToRoot = Self("give it to root: chown root")
  package static let takePermission = Self("take the permission away: chmod go-w")
  package static let useOwnFolder = Self("use a folder that is not for everybody")
  package static let sign = Self("sign this very file, or restore the one that was signed")
}

// MARK: Plugins among others, and switched off

extension Remedy {
  package static func wait(for cause: String) -> Self {
    Self("nothing else is wrong with it: it loads once \(cause) does")
  }
  package static let reloadPlugin = Self("reload it by hive.plugins.reload")
  package static let reload = Self("reload it, or unload the earlier build first")
  package static let unloadOther = Self("unload that one first, to load another version")
  package static let removeVersion = Self(
    "nothing is wrong with it. Remove one of the two files, or say which versions the host admits")
  package static let removeOne = Self("remove one of them, or rename it")
  package static let switchOnAll = Self("take that back to load plugins again")
  package static let writeSwitches = Self(
    #"write it as {"off": ["com.example.greet"]}, or remove it: then all are on"#)
  package static func switchOn(_ id: String) -> Self { Self("take \(id) out of that file") }
  package static let activate = Self("change the host's hive.plugins.activations to load it")
  package static func release(_ mark: String) -> Self {
    Self("put a build there that loads, or remove the mark \(mark) to try it again")
  }
}
