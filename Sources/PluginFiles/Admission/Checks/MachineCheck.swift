internal import BinaryImage
internal import Registration

/// Whether a file is made for processes like the host's, and by a toolkit that this one can read.
enum MachineCheck {
  /// The version of the note that this toolkit reads: `BEEHIVE_IMAGE_VERSION`.
  private static let noteVersion = 1

  static func refusals(of candidate: AdmissionCandidate, for host: AdmissionHost) -> [PluginRefusal]
  {
    let (own, its) = (host.identity, candidate.manifest.identity)
    guard its.isFor(own) else {
      return [
        PluginRefusal(
          .wrongMachine,
          "It is made for \(its.machineTitle), and the host for \(own.machineTitle).",
          expected: own.machineTitle, found: its.machineTitle,
          remedy: "Build it for \(own.machineTitle), or take it out of the folder.")
      ]
    }
    return conventions(of: candidate.library, as: "it", host) + toolkit(candidate)
  }

  /// Whether a library follows other conventions than the host.
  static func conventions(
    of library: Library, as title: String, _ host: AdmissionHost
  ) -> [PluginRefusal] {
    guard let program = host.libraries.members.first?.image.abi else { return [] }
    let its = library.image.abi
    // Libraries of any system may say that they follow System V.
    let isForeign = its.system != 0 && its.system != program.system
    let callsOtherwise = its.calls != program.calls
    guard isForeign || callsOtherwise else { return [] }
    func text(_ abi: (system: UInt8, calls: UInt32?)) -> String {
      callsOtherwise ? "e_flags \(UInt64(abi.calls ?? 0).hexadecimal)" : "EI_OSABI \(abi.system)"
    }
    return [
      PluginRefusal(
        .wrongABI,
        "\(title.capitalizedFirst) follows other conventions than the host: \(text(its)) in place of "
          + "\(text(program)).",
        expected: text(program), found: text(its),
        remedy: "Build it with the compiler and the options that the host was built with.")
    ]
  }

  /// Whether what comes along is a runtime, where the host has one.
  static func secondRuntime(of library: Library, _ host: AdmissionHost) -> PluginRefusal? {
    guard library.linkage.carriesRuntime,
      let first = host.libraries.members.first(where: \.linkage.carriesRuntime)
    else { return nil }
    return PluginRefusal(
      .ownRuntime,
      "It brings along \(library.path), a second runtime beside the host's \(first.path): what one of them "
        + "registers, the other does not have.",
      expected: first.path, found: library.path,
      remedy: "Link the plugin and the host with the same libBeeHive.so.")
  }

  private static func toolkit(_ candidate: AdmissionCandidate) -> [PluginRefusal] {
    var refusals: [PluginRefusal] = []
    let linkage = candidate.manifest.linkage
    func add(_ found: String) {
      refusals.append(
        PluginRefusal(
          .toolkitVersion,
          "It was built with a newer toolkit: \(found), and this one reads version 1.",
          expected: "version 1", found: found,
          remedy: "Build it with the toolkit of the host, or update the host."))
    }
    if let version = linkage.noteVersion, version != noteVersion {
      add("its note has version \(version)")
    } else if candidate.manifest.rejections.contains(where: { $0.reason == .unknownVersion }) {
      add("an entry has a later version")
    }
    if linkage.carriesRuntime {
      refusals.append(
        PluginRefusal(
          .ownRuntime, "It has a copy of the runtime linked into it, and the host has its own.",
          expected: "libBeeHive.so as a library", found: "a copy of it in the file",
          remedy: "Link it with libBeeHive.so, or in C with the header alone."))
    }
    return refusals
  }
}

extension ImageIdentity {
  /// `aarch64`; with what is unusual of it.
  var machineTitle: String {
    let isUsual = bits == 64 && byteOrder == .little
    return isUsual ? machine : "\(machine) (\(bits) bits, \(byteOrder.rawValue) endian)"
  }
}
