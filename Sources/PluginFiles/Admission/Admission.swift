package import BinaryImage
internal import Registration

/// Judges which of some files a host would load, one file after the other and then all together.
package struct Admission {
  /// Looks at an open file beside everything else; what it throws is why the file is refused.
  package typealias Verification = (_ descriptor: Int32, _ path: String) throws -> Void

  /// What is known of a file once it was read; it is closed by then.
  struct Judged {
    var path: String
    /// Nil where it cannot be read.
    var manifest: PluginManifest?
    var refusals: [PluginRefusal]
    var remarks: [String] = []
    /// What becomes known to the loader with it: itself, and the libraries that it brings along.
    var brought: [BroughtName] = []

    /// Says that an entry would be rejected.
    mutating func tell(_ message: String, remedy: String? = nil, _ policy: PluginPolicy) {
      if policy.admitsRejectedEntries {
        remarks.append(message + (remedy.map { "; \($0)" } ?? ""))
      } else {
        let remedy = "\((remedy ?? "correct the entry").capitalizedFirst)."
        refusals.append(
          PluginRefusal(.rejectedEntry, "\(message.capitalizedFirst).", remedy: remedy))
      }
    }
  }

  private let host: AdmissionHost
  private let policy: PluginPolicy
  private let verification: Verification?
  private var judged: [Judged] = []
  /// The first path of each file name. By bytes: to a file system, texts that Swift takes for equal are two names.
  private var firsts: [[UInt8]: String] = [:]

  /// Prepares to judge files.
  ///
  /// - Parameters:
  ///   - host: The process that they are to be loaded into.
  ///   - policy: What is asked of them.
  ///   - verification: Asked of each file that nothing else refuses.
  package init(
    to host: AdmissionHost, under policy: PluginPolicy, verification: Verification? = nil
  ) {
    (self.host, self.policy, self.verification) = (host, policy, verification)
  }

  /// Judges what a catalogue has found.
  ///
  /// - Returns: Whether it is a plugin, or is called like one; everything else a folder may hold.
  @discardableResult
  package mutating func add(_ candidate: PluginCatalogue.Candidate) -> Bool {
    do throws(ImageError) {
      _ = try candidate.found.get()
      add(try AdmissionCandidate(path: candidate.path))
    } catch {
      guard candidate.stamp != nil, error.code != .noEntries,
        error.code != .notAnObject || candidate.path.isLibraryName
      else { return false }
      judged.append(Judged(path: candidate.path, manifest: nil, refusals: [PluginRefusal(error)]))
    }
    return true
  }

  /// Judges a file by itself. Of two of one name, in different folders, the first is meant.
  package mutating func add(_ candidate: AdmissionCandidate) {
    var new = Judged(path: candidate.path, manifest: candidate.manifest, refusals: [])
    if let reason = policy.switchedOff {
      new.refusals = [
        PluginRefusal(
          .switchedOff, "Plugins are switched off: \(reason).", expected: "no plugin",
          remedy: "Take that back to load plugins again.")
      ]
    } else if let first = firsts[Array(candidate.name.utf8)] {
      new.refusals = [
        PluginRefusal(
          .shadowed, "\(first) has the same name, in a folder that comes first.", found: first,
          remedy: "Remove one of them, or rename it.", cause: first)
      ]
    } else {
      firsts[Array(candidate.name.utf8)] = candidate.path
      do throws(ImageError) {
        try judge(candidate, &new)
        try candidate.library.file.checkUnchanged()
      } catch {
        new.refusals.append(PluginRefusal(error))
      }
    }
    judged.append(new)
  }

  /// What is wrong with a file by itself, what explains most first.
  private func judge(_ candidate: AdmissionCandidate, _ new: inout Judged) throws(ImageError) {
    if let refusal = listRefusal(of: candidate, policy) { new.refusals.append(refusal) }
    let machine = machineRefusals(of: candidate, for: host)
    new.refusals += machine
    let owners = OwnershipCheck()
    let own = candidate.library
    if policy.checksOwners { new.refusals += owners.refusals(of: own.file, as: "the file") }
    // What is made for another machine brings other libraries, and defines other symbols.
    guard machine.isEmpty else { return }
    let symbols = try SymbolCheck(of: candidate, for: host)
    for library in [own] + symbols.companions {
      let title = library === own ? "it" : "\(library.path), which it brings along,"
      if library !== own {
        new.refusals += conventionRefusals(of: library, as: title, host)
        if let refusal = secondRuntimeRefusal(of: library, host) {
          new.refusals.append(refusal)
        }
        if policy.checksOwners { new.refusals += owners.refusals(of: library.file, as: title) }
      }
      if policy.checksSearchPaths {
        new.refusals += searchPathRefusals(of: library, as: title, policy)
      }
      if let refusal = try openingRefusal(of: library, as: title) {
        new.refusals.append(refusal)
      }
      new.remarks += openingRemarks(on: library, as: title)
      new.refusals += hardeningRefusals(of: library, as: title, policy)
      // What the system's libraries run is the system's.
      if !library.isSystem, let refusal = try startupRefusal(of: library, as: title, policy) {
        new.refusals.append(refusal)
      }
    }
    new.brought = symbols.brought
    let contracts = try judgeContracts(
      of: candidate, for: host, with: symbols.companions, policy)
    // Other contracts have other symbols: the cause comes first.
    new.refusals += contracts.refusals + symbols.refusals
    new.remarks += contracts.remarks
    new.remarks += try typeRemarks(on: candidate, for: host, with: symbols.companions)
    for rejection in candidate.manifest.rejections {
      let message = "an entry will be rejected: \(rejection) [\(rejection.reason.rawValue)]"
      new.tell(message, policy)
    }
    guard new.refusals.isEmpty, let verification else { return }
    do {
      try verification(own.file.descriptor, candidate.path)
    } catch {
      new.refusals.append(
        PluginRefusal(
          .signature, "The host's own verification refuses it: \(error)",
          remedy: "Sign this very file, or restore the one that was signed."))
    }
  }

  /// What becomes of all files together.
  package func report() -> AdmissionReport {
    let joint = JointAdmission(of: judged, host.modules, policy)
    guard let files = judgedInOrder(joint) else { return AdmissionReport(on: host, joint) }
    return AdmissionReport(on: host, JointAdmission(of: files, host.modules, policy))
  }

  /// Judges again what gets libraries of plugins that load before it in place of its own, since the loader goes by
  /// their names; nil where nothing does.
  private func judgedInOrder(_ joint: JointAdmission) -> [Judged]? {
    var files = judged
    var residents: [[UInt8]: (brought: BroughtName, owner: String)] = [:]
    var (refused, hasChanged): (Set<Int>, Bool) = ([], false)
    for file in joint.order where refused.isDisjoint(with: joint.needs[file]) {
      let instead = files[file].brought.compactMap { own -> String? in
        guard own.isNeeded, let (other, owner) = residents[Array(own.name.utf8)],
          !other.stamp.isSameFile(as: own.stamp)
        else { return nil }
        return
          "it gets the \(own.name) of \(owner), which loads before it: \(other.path) in place of \(own.path)"
      }
      if !instead.isEmpty {
        hasChanged = true
        files[file].remarks += instead
        judge(&files[file], instead, beside: residents.mapValues(\.brought.path))
      }
      guard files[file].refusals.isEmpty else {
        refused.insert(file)
        continue
      }
      for name in files[file].brought where residents[Array(name.name.utf8)] == nil {
        residents[Array(name.name.utf8)] = (name, files[file].path.fileName)
      }
    }
    return hasChanged ? files : nil
  }

  /// Judges the symbols of a file that gets other libraries than its own.
  private func judge(
    _ file: inout Judged, _ instead: [String], beside residents: [[UInt8]: String]
  ) {
    do throws(ImageError) {
      let symbols = try SymbolCheck(
        of: AdmissionCandidate(path: file.path), for: host, beside: residents)
      file.brought = symbols.brought
      file.refusals += symbols.refusals.map { refusal in
        var refusal = refusal
        refusal.message += " For \(instead.joined(separator: "; "))."
        refusal.remedy =
          "Link both plugins with one library, or give one of the two another soname."
        return refusal
      }
    } catch {
      file.refusals.append(PluginRefusal(error))
    }
  }
}

/// A name by which the loader knows a file that a plugin brings.
struct BroughtName {
  var name: String
  /// Whether the file is needed by that name, and looked for only where no other has it.
  var isNeeded: Bool
  var path: String
  var stamp: FileStamp
}

extension String {
  /// Whether a path is called as shared libraries are: `libshop.so`, `libshop.so.1`.
  fileprivate var isLibraryName: Bool {
    let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
    guard let end = parts.dropFirst().lastIndex(of: "so") else { return false }
    return parts[(end + 1)...].allSatisfy { part in
      part.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
    }
  }
}

extension PluginRefusal {
  /// Why a file cannot be read.
  init(_ error: ImageError) {
    (code, message) = (error.code.rawValue, error.message)
    (expected, found, cause) = (nil, nil, nil)
    remedy = "Build, copy or rename it, or take it out of the folder."
  }
}

/// A plugin's file, open, and what it says of itself: every check reads this descriptor.
package struct AdmissionCandidate {
  /// Where it was found.
  package let path: String
  /// What it offers and requires.
  package let manifest: PluginManifest
  let library: Library

  /// Opens the file at a path and reads it.
  ///
  /// - Throws: ``ImageError`` where it is no plugin, or cannot be read.
  package init(path: String) throws(ImageError) {
    // Looked at after it was opened, which blocks on nothing: what is said of it is said of this descriptor.
    let file = try OpenedFile(path: path, wasMapped: true)
    self.path = path
    manifest = try PluginManifest(of: file)
    library = try Library(of: file)
  }

  /// The file's name, without its folders.
  var name: String { path.fileName }
}

extension String {
  /// A path without its folders.
  package var fileName: String { split(separator: "/").last.map(String.init) ?? self }

  /// The folder that a path is in.
  package var folder: String {
    guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return slash == startIndex ? "/" : String(self[..<slash])
  }
}
