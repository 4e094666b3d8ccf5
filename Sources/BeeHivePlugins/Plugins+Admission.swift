internal import BeeHive
public import BinaryImage
public import PluginFiles
internal import Registration
internal import Threads

extension Plugins {
  /// Whether plugins are judged: a verification must not have them judged again.
  @TaskLocal static var isJudging = false

  /// The conditions for plugins beyond those that make them work; `BEEHIVE_PLUGINS=off` in the environment admits none.
  public var policy: PluginPolicy {
    get { store.state.withLock { $0.policy } }
    nonmutating set { store.state.withLock { $0.policy = newValue } }
  }

  /// Lets the host verify, by signatures perhaps, each plugin that nothing else refuses, and every library with it.
  ///
  ///     hive.plugins.verify { descriptor, path in try keys.check(path + ".sig", of: descriptor) }
  ///
  /// - Parameter verification: Takes an open file and its path, and throws the reason to refuse it. Called for the
  ///   plugin, then in the loader's order for each file that comes along and that the host does not have. It must read
  ///   the descriptor at offsets of its own (`pread`) and leave it open.
  public func verify(with verification: @escaping @Sendable (Int32, String) throws -> Void) {
    store.state.withLock { $0.verification = verification }
  }

  /// Switches a plugin off for the user of this process: no admission lets it load from now on.
  ///
  /// Stores the choice in `$XDG_CONFIG_HOME/PROGRAM/plugins.json`, or else below `~/.config`. Writes the file whole or
  /// not at all. Waits while another process writes it. Loaded plugins stay loaded.
  ///
  /// - Parameter id: The plugin's id; it need not be installed.
  /// - Throws: `ImageError` if it is no id, or the list cannot be read or written.
  public func switchOff(_ id: String) throws(ImageError) { try set(id, isOn: false) }

  /// Takes back ``switchOff(_:)``; nothing happens if the plugin is on.
  ///
  /// - Parameter id: The plugin's id.
  /// - Throws: As ``switchOff(_:)``.
  public func switchOn(_ id: String) throws(ImageError) { try set(id, isOn: true) }

  private func set(_ id: String, isOn: Bool) throws(ImageError) {
    if let file = files.first(where: { $0.path.fileName == id && $0.identity?.id != id }) {
      throw ImageError(
        .unsupported, image: id,
        message: "It is a file's name, and no id of a plugin: "
          + (file.identity.map { "that is \($0.id)." } ?? "the file states none."))
    }
    var switches = PluginSwitches(of: ownProgram)
    try switches.set(id, isOn: isOn)
  }

  /// Adds the directories that a variable of the environment lists, with colons between them.
  ///
  /// Leaves out paths that are not absolute. Adds nothing if the program has more rights than the user who started it
  /// (`AT_SECURE`), because that user controls the variable.
  ///
  /// - Parameter variable: The variable's name.
  /// - Returns: Handles that remove the directories again, in order; empty if the variable is not set or not heeded.
  /// - Throws: `ImageError` if one of the directories cannot be read; then none is added.
  @discardableResult
  public func add(directoriesFrom variable: String) throws(ImageError) -> [Handle] {
    var handles: [Handle] = []
    for path in trustedVariable(variable)?.parts(at: UInt8(ascii: ":")) ?? []
    where path.isAbsolute {
      do throws(ImageError) { handles.append(try add(directory: path)) } catch {
        for handle in handles { handle.cancel() }
        throw error
      }
    }
    return handles
  }

  /// Judges which plugins this process would load, their order, and the reasons against the others. Loads nothing.
  ///
  /// Directories that were added first come first. Of several files with one name, the first admitted one counts.
  ///
  /// - Returns: What becomes of each plugin, as of the last ``refresh()``.
  /// - Throws: `ImageError` where the program's own file cannot be read.
  public func admission() throws(ImageError) -> AdmissionReport { try admission(keptFiles: 0) }

  /// The same; keeps so many files open. `reloaded` is the loader's name for a plugin that another build is to replace.
  func admission(keptFiles: Int, reloaded: String? = nil) throws(ImageError) -> AdmissionReport {
    guard !Self.isJudging else {
      throw ImageError(
        .unsupported, image: "plugins", message: "A verification has plugins judged again.")
    }
    var modules: [String: Attributes] = [:]
    for entry in hive.entries where entry.kind == .module {
      if case .rejected = entry.state { continue }
      modules[entry.name] = modules[entry.name] ?? entry.attributes
    }
    let state = store.state.withLock { $0 }
    var policy = state.policy
    if trustedVariable("BEEHIVE_PLUGINS") == "off" {
      policy.switchedOff = "BEEHIVE_PLUGINS=off is in the environment"
    }
    let candidates = state.catalogue.candidates
      .map { (candidate: $0, id: (try? $0.found.get())?.plugin?.id) }
    let marks = LoadMarks(in: state.marks)?.left() ?? [:]
    let host = try AdmissionHost(
      modules: modules,
      plugins: state.images.map {
        ($0.name, $0.path, $0.stamp, $0.identity?.id, $0.isTakenIn && !$0.isNamed(reloaded))
      }, strays: state.strays)
    var admission = Admission(
      to: host, under: policy, verification: state.verification,
      refusal: { manifest, paths in
        if state.activation(of: manifest.plugin, at: paths) == .never {
          return PluginRefusal(.switchedOff, "The host never loads it.", remedy: .activate)
        }
        return marks[manifest.stamp.text].map { mark in
          PluginRefusal(
            .quarantined,
            "A process ended while it loaded this file: a constructor of it may have crashed or hung.",
            found: mark, remedy: .release(mark))
        }
      }, keptFiles: keptFiles)
    // The new build of a plugin competes with no other version of it.
    let path = state.images.first { $0.isNamed(reloaded) }?.path
    let heir = path.flatMap { path in candidates.first { $0.candidate.paths.has(path) } }?.id
    let report = Self.$isJudging.withValue(true) {
      for (candidate, id) in candidates {
        if let path, let heir, id == heir, !candidate.paths.has(path) { continue }
        admission.add(candidate)
      }
      return admission.report()
    }
    for plugin in report.plugins { store.note(PluginFile.State(plugin), of: plugin.stamp) }
    return report
  }
}
