package import BinaryImage
internal import Threads

/// The plugins in directories and files, read without running anything of them.
///
/// A value: refreshing makes another one, and reads only changed files again.
package struct PluginCatalogue: Sendable {
  /// A place with plugins: every file right in a directory, or one file.
  package struct Source: Hashable, Sendable {
    // By bytes: to a file system, texts that Swift takes for equal are two paths.
    private let bytes: [UInt8]
    /// Whether it is a directory.
    package let isDirectory: Bool
    /// The path of the directory or of the file.
    package var path: String { String(decoding: bytes, as: UTF8.self) }

    /// Makes the source of every file right in a directory.
    package static func directory(_ path: String) -> Self {
      Self(bytes: Array(path.utf8), isDirectory: true)
    }

    /// Makes the source of one file.
    package static func file(_ path: String) -> Self {
      Self(bytes: Array(path.utf8), isDirectory: false)
    }
  }

  /// A file that was looked at.
  package struct Candidate: Sendable {
    /// The first path that led to it.
    package var path: String
    /// Further paths that lead to the same file.
    package var otherPaths: [String] = []
    /// All its paths.
    package var paths: [String] { [path] + otherPaths }
    /// The manifest, or the reason that it is no plugin.
    package var found: Result<PluginManifest, ImageError>
    /// The stamp of the file and its contents; nil if there is no regular file.
    package var stamp: FileStamp?
    /// Whether a change since it was read shows in the stamp.
    var isSettled = true
  }

  /// The places that the next refresh reads, in order: the files of earlier places come first, and a repeated place is
  /// read once.
  package var sources: [Source] = []
  /// The files that were found, in the order of the sources, then by name; each file once, whatever paths lead to it.
  package private(set) var candidates: [Candidate] = []
  /// Sources that could not be read.
  package private(set) var problems: [ImageError] = []
  /// The number of files that the last refresh opened and read; the stamps of all others were as before.
  package private(set) var readCount = 0

  /// The places of the plugins among the candidates, by their contents.
  private var places: [FileStamp: Int] = [:]

  /// Creates a catalogue without sources.
  package init() {}

  /// The candidates that are plugins, in order.
  package var manifests: [PluginManifest] { candidates.compactMap { try? $0.found.get() } }

  /// Returns the plugin that a stamp is of; a change of times makes no other file of it.
  package func candidate(of stamp: FileStamp?) -> Candidate? {
    (stamp?.contents).flatMap { places[$0] }.map { candidates[$0] }
  }

  /// Looks at every source again, and reads the files that are new or changed.
  package mutating func refresh() {
    var pass = Pass(known: candidates)
    var seen: Set<Source> = []
    for source in sources where seen.insert(source).inserted {
      if source.isDirectory {
        pass.read(directory: source.path)
      } else {
        pass.look(at: Array(source.path.utf8), Pass.stamp(of: source.path.utf8))
      }
    }
    pass.readAll()
    (candidates, problems, readCount) = (pass.candidates, pass.problems, pass.unread.count)
    let found = candidates.enumerated().map { ((try? $1.found.get())?.stamp.contents, $0) }
    places = Dictionary(found.compactMap { stamp, place in stamp.map { ($0, place) } }) { $1 }
  }
}

/// One pass over all sources.
private struct Pass {
  private let known: [FileStamp.FileNumber: PluginCatalogue.Candidate]
  private var positions: [FileStamp.FileNumber: Int] = [:]
  /// The positions of candidates that are to be read, with their paths.
  private(set) var unread: [(position: Int, path: [UInt8])] = []
  /// The paths, as bytes: to a file system, texts that Swift takes for equal are two names.
  private var paths: Set<[UInt8]> = []
  var candidates: [PluginCatalogue.Candidate] = []
  var problems: [ImageError] = []

  init(known: [PluginCatalogue.Candidate]) {
    self.known = Dictionary(
      known.compactMap { candidate in candidate.stamp.map { ($0.number, candidate) } }
    ) { first, _ in first }
  }

  mutating func read(directory: String) {
    do throws(ImageError) {
      let end = directory.utf8.last == UInt8(ascii: "/") ? "" : "/"
      let folder = Array("\(directory)\(end)".utf8)
      // A hidden file is being installed, or is not ours.
      let found = try directoryNames(of: Array(directory.utf8))
        .filter { $0.first != UInt8(ascii: ".") }.map { folder + $0 }
      for (path, stamp) in zip(found, found.mapConcurrently { Self.stamp(of: $0) }) {
        look(at: path, stamp)
      }
    } catch { problems.append(error) }
  }

  /// Returns the stamp of the file that a path leads to.
  static func stamp(of path: some Collection<UInt8>) -> Result<FileStamp, ImageError> {
    Result { () throws(ImageError) in try fileStamp(of: path) }
  }

  /// Adds the file that a path leads to, once.
  mutating func look(at bytes: [UInt8], _ looked: Result<FileStamp, ImageError>) {
    guard paths.insert(bytes).inserted else { return }
    let path = String(decoding: bytes, as: UTF8.self)
    let stamp: FileStamp
    do throws(ImageError) { stamp = try looked.get() } catch {
      let isNamed = !path.unicodeScalars.contains("\u{fffd}")
      candidates.append(.init(path: path, found: .failure(isNamed ? error : .misnamed(path))))
      return
    }
    let number = stamp.number
    if let position = positions[number] {
      candidates[position].otherPaths.append(path)
      return
    }
    positions[number] = candidates.count
    if let before = known[number], before.stamp == stamp, before.isSettled, before.path == path {
      candidates.append(before)
      candidates[candidates.count - 1].otherPaths = []
    } else {
      unread.append((candidates.count, bytes))
      candidates.append(
        .init(path: path, found: .failure(.misnamed(path)), stamp: stamp, isSettled: false))
    }
  }

  /// Reads the files that are new or changed.
  mutating func readAll() {
    let looked = candidates
    let read = unread.mapConcurrently { Self.read($0.path, looked[$0.position]) }
    for ((position, _), candidate) in zip(unread, read) { candidates[position] = candidate }
  }

  private static func read(
    _ path: [UInt8], _ candidate: PluginCatalogue.Candidate
  ) -> PluginCatalogue.Candidate {
    var candidate = candidate
    do throws(ImageError) {
      // A file that was regular a moment ago opens without blocking, and is refused if it is something else by now.
      let file = try OpenedFile(
        path: path, name: candidate.path, wasMapped: true, readWhole: PluginManifest.readWhole)
      (candidate.stamp, candidate.isSettled) = (file.stamp, file.stamp.isSettled)
      let manifest = try file.tellingChanges { () throws(ImageError) in
        try PluginManifest(of: file)
      }
      guard candidate.path.utf8.elementsEqual(path) else { throw .misnamed(candidate.path) }
      candidate.found = .success(manifest)
    } catch {
      candidate.found = .failure(error)
      // The system may give it the next time; so it is read again.
      if error.code == .unreadable { candidate.isSettled = false }
    }
    return candidate
  }
}

extension ImageError {
  /// Makes the error of a name that is not UTF-8: hosts give paths as texts.
  fileprivate static func misnamed(_ path: String) -> ImageError {
    ImageError(.unreadable, image: path, message: "Its name is not UTF-8.")
  }
}
