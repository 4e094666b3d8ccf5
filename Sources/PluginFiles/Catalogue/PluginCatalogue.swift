package import BinaryImage
internal import Threads

/// The plugins in directories and files, read without running anything of them.
///
/// A value: refreshing makes another one, which has read again what was changed alone.
package struct PluginCatalogue: Sendable {
  /// Where plugins are looked for.
  package enum Source: Hashable, Sendable {
    /// Every file right in a directory.
    case directory(String)
    /// One file.
    case file(String)

    // By bytes: to a file system, texts that Swift takes for equal are two paths.
    private var bytes: [UInt8] {
      switch self {
      case .directory(let path): [0] + path.utf8
      case .file(let path): [1] + path.utf8
      }
    }

    package static func == (first: Self, second: Self) -> Bool { first.bytes == second.bytes }

    package func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
  }

  /// A file that was looked at.
  package struct Candidate: Sendable {
    /// The first path that led to it.
    package var path: String
    /// Further paths that lead to the same file.
    package var otherPaths: [String] = []
    /// What it says of itself, or why it is no plugin.
    package var found: Result<PluginManifest, ImageError>
    /// What tells the file and its contents from others; nil where there is no regular file.
    var stamp: FileStamp?
    /// Whether a change since it was read shows in the stamp.
    var isSettled = true
  }

  /// Where plugins are looked for, in order: an earlier one's files come first.
  package private(set) var sources: [Source] = []
  /// What was found, in the order of the sources, then by name; a file once, whatever paths lead to it.
  package private(set) var candidates: [Candidate] = []
  /// Sources that could not be read.
  package private(set) var problems: [ImageError] = []
  /// The number of files that the last refresh opened and read; of all others the stamp was as before.
  package private(set) var readCount = 0

  /// Creates a catalogue without sources.
  package init() {}

  /// The candidates that are plugins, in order.
  package var manifests: [PluginManifest] { candidates.compactMap { try? $0.found.get() } }

  /// Adds a source behind the others, to be read by the next refresh; one that is there stays where it is.
  package mutating func add(_ source: Source) {
    if !sources.contains(source) { sources.append(source) }
  }

  /// Takes out a source; the next refresh forgets what only it led to.
  package mutating func remove(_ source: Source) { sources.removeAll { $0 == source } }

  /// Looks at every source again, and reads the files that are new or changed.
  package mutating func refresh() {
    var pass = Pass(known: candidates)
    for source in sources {
      switch source {
      case .directory(let path): pass.read(directory: path)
      case .file(let path): pass.look(at: Array(path.utf8), Pass.stamp(of: path.utf8))
      }
    }
    pass.readAll()
    (candidates, problems, readCount) = (pass.candidates, pass.problems, pass.unread.count)
  }
}

/// One look at all sources.
private struct Pass {
  private let known: [FileStamp.FileNumber: PluginCatalogue.Candidate]
  private var positions: [FileStamp.FileNumber: Int] = [:]
  /// The positions of candidates that are to be read, with their paths.
  private(set) var unread: [(position: Int, path: [UInt8])] = []
  /// As bytes: to a file system, texts that Swift takes for equal are two names.
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
      let folder = Array((directory.hasSuffix("/") ? directory : directory + "/").utf8)
      let found = try directoryNames(of: Array(directory.utf8)).map { folder + $0 }
      paths.reserveCapacity(paths.count + found.count)
      positions.reserveCapacity(positions.count + found.count)
      candidates.reserveCapacity(candidates.count + found.count)
      for (path, stamp) in zip(found, found.mapConcurrently { Self.stamp(of: $0) }) {
        look(at: path, stamp)
      }
    } catch {
      problems.append(error)
    }
  }

  /// What is said of the file that a path leads to.
  static func stamp(of path: some Collection<UInt8>) -> Result<FileStamp, ImageError> {
    Result { () throws(ImageError) in try fileStamp(of: path) }
  }

  /// Takes over what a path leads to, once.
  mutating func look(at bytes: [UInt8], _ looked: Result<FileStamp, ImageError>) {
    guard paths.insert(bytes).inserted else { return }
    let path = String(decoding: bytes, as: UTF8.self)
    let stamp: FileStamp
    do throws(ImageError) { stamp = try looked.get() } catch {
      let isNamed = !path.contains("\u{fffd}" as Character)
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
      candidates.append(.init(path: path, found: .failure(.misnamed(path)), stamp: stamp))
    }
  }

  /// Reads the files that are new or changed.
  mutating func readAll() {
    let read = unread.mapConcurrently { Self.read($0.path) }
    for ((position, _), (found, stamp, isSettled)) in zip(unread, read) {
      candidates[position].found = found
      candidates[position].stamp = stamp ?? candidates[position].stamp
      candidates[position].isSettled = isSettled
    }
  }

  private static func read(
    _ bytes: [UInt8]
  ) -> (found: Result<PluginManifest, ImageError>, stamp: FileStamp?, isSettled: Bool) {
    let path = String(decoding: bytes, as: UTF8.self)
    let file: OpenedFile
    do throws(ImageError) {
      // What was looked at a moment ago is opened without blocking, and refused if it is something else by now.
      file = try OpenedFile(
        path: bytes, name: path, wasMapped: true, readWhole: PluginManifest.readWhole)
    } catch {
      // The system may give it the next time.
      return (.failure(error), nil, false)
    }
    let isSettled = file.stamp.isSettled
    do throws(ImageError) {
      let manifest = try file.tellingChanges { () throws(ImageError) in
        try PluginManifest(of: file)
      }
      guard path.utf8.elementsEqual(bytes) else { throw .misnamed(path) }
      return (.success(manifest), file.stamp, isSettled)
    } catch {
      return (.failure(error), file.stamp, isSettled && error.code != .unreadable)
    }
  }
}

extension ImageError {
  /// Hosts give paths as texts.
  fileprivate static func misnamed(_ path: String) -> ImageError {
    ImageError(.unreadable, image: path, message: "Its name is not UTF-8.")
  }
}
