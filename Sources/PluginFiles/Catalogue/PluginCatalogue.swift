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

  /// How many candidates of a refresh came from where.
  package struct Counts: Hashable, Sendable {
    /// Files that were opened and read.
    package var read = 0
    /// Files whose stamp was as before.
    package var unchanged = 0
  }

  /// Where plugins are looked for, in order: an earlier one's files come first.
  package private(set) var sources: [Source] = []
  /// What was found, in the order of the sources, then by name; a file once, whatever paths lead to it.
  package private(set) var candidates: [Candidate] = []
  /// Sources that could not be read.
  package private(set) var problems: [ImageError] = []
  /// What the last refresh did.
  package private(set) var counts = Counts()

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
      case .file(let path): pass.look(at: path, Pass.stamp(of: path))
      }
    }
    pass.readAll()
    (candidates, problems, counts) = (pass.candidates, pass.problems, pass.counts)
  }
}

/// One look at all sources.
private struct Pass {
  private let known: [FileStamp.FileNumber: PluginCatalogue.Candidate]
  private var positions: [FileStamp.FileNumber: Int] = [:]
  /// The positions of candidates that are to be read.
  private var unread: [Int] = []
  /// As bytes: to a file system, texts that Swift takes for equal are two names.
  private var paths: Set<[UInt8]> = []
  var candidates: [PluginCatalogue.Candidate] = []
  var problems: [ImageError] = []
  var counts = PluginCatalogue.Counts()

  init(known: [PluginCatalogue.Candidate]) {
    self.known = Dictionary(
      known.compactMap { candidate in candidate.stamp.map { ($0.number, candidate) } }
    ) { first, _ in first }
  }

  mutating func read(directory: String) {
    do throws(ImageError) {
      let names = try directoryNames(of: Array(directory.utf8))
      paths.reserveCapacity(paths.count + names.count)
      positions.reserveCapacity(positions.count + names.count)
      candidates.reserveCapacity(candidates.count + names.count)
      let folder = directory.hasSuffix("/") ? directory : directory + "/"
      let looked = names.mapConcurrently { name in
        let text = String(decoding: name, as: UTF8.self)
        let isText = text.utf8.elementsEqual(name)
        return (
          isText: isText, path: folder + text,
          stamp: isText
            ? Self.stamp(of: folder + text)
            : Result { () throws(ImageError) in try fileStamp(of: Array(folder.utf8) + name) }
        )
      }
      for (name, (isText, path, stamp)) in zip(names, looked) {
        if isText {
          look(at: path, stamp)
        } else {
          refuse(misnamed: Array(folder.utf8) + name, path, stamp)
        }
      }
    } catch {
      problems.append(error)
    }
  }

  /// What is said of the file that a path leads to.
  static func stamp(of path: String) -> Result<FileStamp, ImageError> {
    Result { () throws(ImageError) in try fileStamp(of: path.utf8) }
      .mapError { path.contains("\u{fffd}" as Character) ? misnamed(path) : $0 }
  }

  /// Hosts give paths as texts.
  private static func misnamed(_ path: String) -> ImageError {
    ImageError(.unreadable, image: path, message: "Its name is not UTF-8.")
  }

  /// Refuses a file for its name, or for what is wrong with it where it is no plugin under another.
  private mutating func refuse(
    misnamed bytes: [UInt8], _ path: String, _ looked: Result<FileStamp, ImageError>
  ) {
    guard paths.insert(bytes).inserted else { return }
    do throws(ImageError) {
      _ = try looked.get()
      _ = try PluginManifest(of: OpenedFile(path: bytes, name: path, wasMapped: true))
      refuse(path, Self.misnamed(path), try looked.get())
    } catch {
      refuse(path, error, try? looked.get())
    }
  }

  /// Takes over what a path leads to, once.
  mutating func look(at path: String, _ looked: Result<FileStamp, ImageError>) {
    guard paths.insert(Array(path.utf8)).inserted else { return }
    let stamp: FileStamp
    do throws(ImageError) { stamp = try looked.get() } catch { return refuse(path, error) }
    let number = stamp.number
    if let position = positions[number] {
      candidates[position].otherPaths.append(path)
      return
    }
    positions[number] = candidates.count
    if let before = known[number], before.stamp == stamp, before.isSettled, before.path == path {
      counts.unchanged += 1
      candidates.append(before)
      candidates[candidates.count - 1].otherPaths = []
    } else {
      unread.append(candidates.count)
      candidates.append(
        PluginCatalogue.Candidate(
          path: path, found: .failure(ImageError(.unreadable, image: path, message: "")),
          stamp: stamp))
    }
  }

  /// Reads the files that are new or changed.
  mutating func readAll() {
    let read = unread.map { candidates[$0].path }.mapConcurrently(Self.read)
    for (position, (found, stamp, isSettled)) in zip(unread, read) {
      candidates[position].found = found
      candidates[position].stamp = stamp ?? candidates[position].stamp
      candidates[position].isSettled = isSettled
    }
    counts.read = unread.count
  }

  private static func read(
    _ path: String
  ) -> (found: Result<PluginManifest, ImageError>, stamp: FileStamp?, isSettled: Bool) {
    let file: OpenedFile
    do throws(ImageError) {
      // What was looked at a moment ago is opened without blocking, and refused if it is something else by now.
      file = try OpenedFile(
        path: path, name: path, wasMapped: true, readWhole: PluginManifest.readWhole)
    } catch {
      // The system may give it the next time.
      return (.failure(error), nil, false)
    }
    let isSettled = file.stamp.isSettled
    do throws(ImageError) {
      let manifest = try file.tellingChanges { () throws(ImageError) in
        try PluginManifest(of: file)
      }
      return (.success(manifest), file.stamp, isSettled)
    } catch {
      return (.failure(error), file.stamp, isSettled && error.code != .unreadable)
    }
  }

  private mutating func refuse(_ path: String, _ error: ImageError, _ stamp: FileStamp? = nil) {
    candidates.append(
      PluginCatalogue.Candidate(path: path, found: .failure(error), stamp: stamp))
  }
}
