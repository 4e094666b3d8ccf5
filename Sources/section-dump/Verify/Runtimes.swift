internal import BinaryImage

extension SurveyedImage {
  /// Notes which runtimes it brings and needs; nothing of a file that is no ELF file, or whose needs cannot be read.
  mutating func readRuntimes(of image: any FileImage) {
    guard let file = image as? ELFFile, let linkage = try? file.linkage() else { return }
    let needed = linkage.needed
    isAnnotated = linkage.noteVersion != nil
    needsSwift = needed.contains("libswiftCore.so")
    let isPart = linkage.name?.hasPrefix("libBeeHive") ?? false
    if !isPart { hive = needed.first { $0 == "libBeeHive.so" || $0.hasPrefix("libBeeHive.so.") } }
    // What needs no library at all can open none.
    guard kind == .executable, !needsSwift, !needed.isEmpty else { return }
    holdsSwift = linkage.hasSwiftSections
  }
}

extension Survey {
  /// Files that would bring two runtimes into one process.
  var doubleRuntimes: [Finding] {
    loadable.flatMap { images in
      let libraries = images.filter { $0.kind != .executable }
      let executables = images.filter { $0.kind == .executable }
      // Libraries that need another library of the Hive than an executable, or than a library before them.
      let hives = libraries.enumerated().compactMap { index, library -> Finding? in
        let others = executables + libraries[..<index]
        guard let own = library.hive,
          let other = others.first(where: { $0.hive ?? own != own }), let needed = other.hive
        else { return nil }
        return Finding(
          code: ImageError.Code.secondRuntime.rawValue, level: .warning, place: library.place,
          message: "it needs \(own), and \(other.place.file) needs \(needed): what one of two "
            + "runtimes registers, the other does not have",
          remedy: "link both against the same libBeeHive.so", others: [other.place])
      }
      guard let library = libraries.first(where: \.needsSwift) else { return hives }
      return hives
        + executables.filter(\.holdsSwift).map { executable in
          Finding(
            .staticSwiftRuntime, .error, executable.place,
            "Swift's runtime is linked into it, and \(library.place.file) needs libswiftCore.so: a process "
              + "with both may crash",
            remedy: "build it without --static-swift-stdlib, in swiftc -static-stdlib",
            others: [library.place])
        }
    }
  }
}
