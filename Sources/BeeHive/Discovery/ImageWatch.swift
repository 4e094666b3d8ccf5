internal import BinaryImage
internal import CImageEvents
internal import LibC
internal import Synchronization
internal import Threads

/// The images that a Hive still has to merge: from the loader's list, and images that announced themselves.
///
/// Has a lock of its own, held while the loader's list is walked and files without a note are read. The lock is never
/// held across `dlopen`, a constructor, an accessor or other foreign code. An image stays unmerged until a thread has
/// merged it. A second thread that finds it meanwhile merges it too. It does not wait, because the first thread may be
/// waiting for a constructor that the second one runs in.
struct ImageWatch: ~Copyable {
  private var list = ImageList()
  private var unmerged: Set<MappedImage.ID> = []
  /// Merged images that could not be read: the loader may map another image at the address of one.
  private var unread: Set<MappedImage.ID> = []
  /// The headers of images that announced themselves, and whether they are pinned.
  private var announced: [RuntimeAddress: Bool] = [:]

  /// The result of one walk of the loader's list.
  struct Found: Sendable {
    /// Images to merge, in the loader's order.
    var images: [LoadedImage] = []
    /// Images whose sections cannot be found, with the errors.
    var failures: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that were read and are wrong as a whole.
    var remarks: [(id: MappedImage.ID, error: ImageError)] = []
    /// Images that were unmapped: none of them declares anything.
    var removed: [MappedImage.ID] = []
    /// Those of `images` that may not be relocated yet.
    var unsettled: Set<MappedImage.ID> = []
    /// Those of `images` that their constructors have pinned.
    var pinned: Set<MappedImage.ID> = []
    /// The loader's counts of mapped and unmapped images before `images` were copied; nil if it does not count.
    var counters: ImageList.Counters?
  }

  /// Whether the loader has mapped or unmapped an image since the last walk.
  var isStale: Bool {
    guard unmerged.isEmpty, let now = ImageList.probe() else { return true }
    return now != list.counters
  }

  /// Walks the loader's list.
  mutating func look() throws(ImageError) -> Found {
    takeAnnouncements()
    let changes = try list.update()
    var found = Found(removed: changes.removed, counters: list.counters)
    for position in changes.added { unmerged.insert(list.id(at: position)) }
    unmerged.subtract(changes.removed)
    unread.subtract(changes.removed)
    if changes.mayHideReplacements { unmerged.formUnion(unread) }
    let positions = unmerged.sorted().compactMap { list.position(of: $0) }
    for (position, copy) in zip(positions, list.copy(positions)) {
      let mapped = list[position]
      if mapped.carriesRuntime, mapped.bias != ImageList.home {
        found.remarks.append((mapped.id, .secondRuntime(in: mapped.name)))
      }
      switch copy {
      case .image(let image):
        found.images.append(image)
        // An image whose constructor has called the hook is relocated, unless it has replaced another image.
        let isPinned = mapped.header.flatMap { announced[$0] }
        if isPinned == true { found.pinned.insert(mapped.id) }
        let isRelocated = image.isRelocated || (isPinned != nil && !ImageList.tellsRelocation)
        if !isRelocated, !image.isSettled { found.unsettled.insert(mapped.id) }
      case .failed(let error): found.failures.append((mapped.id, error))
      // It stays unmerged. The next walk finds that it is no longer listed, or finds another image that the list cannot
      // tell from it.
      case .gone: break
      }
    }
    return found
  }

  /// Records that these images are merged, and the other findings.
  mutating func merged(_ ids: [MappedImage.ID], of found: Found) {
    let failed = found.failures.map(\.id)
    unmerged.subtract(ids)
    unmerged.subtract(failed)
    unread.subtract(ids)
    unread.formUnion(failed)
    if unmerged.isEmpty { announced.removeAll() }
  }

  private mutating func takeAnnouncements() {
    let capacity = 64
    var events = unsafe [image_event](repeating: image_event(), count: capacity)
    while true {
      let count = unsafe image_events_take(&events, capacity)
      for index in 0..<count {
        let event = unsafe events[index]
        let header = unsafe RuntimeAddress(rawValue: UInt(bitPattern: event.header))
        announced[header] = unsafe event.pinned
      }
      if count < capacity { return }
    }
  }
}

/// Pins images that did not pin themselves: hand-written entries, hosts that export no hook, and constructors that run
/// before the image's anchor.
///
/// Pins on a thread of its own: while a constructor runs, the loader lets nobody else in, and a constructor may wait
/// for the thread that asks. An image that is not pinned in time is left for the next look.
struct ImagePins {
  typealias Results = [MappedImage.ID: Result<Void, ImageError>]

  /// The result for each image; nil while a thread pins it.
  private let results = Lock<[MappedImage.ID: Result<Void, ImageError>?]>([:])
  /// The longest wait for a constructor of another thread: longer than a busy machine takes to begin a thread.
  private static let patience = Duration.seconds(1)

  /// Pins images. Returns the result of each, or nothing if some are left for the next look.
  func pin(_ images: [LoadedImage]) -> Results {
    let new = results.withLock { results in
      let new = images.filter { results[$0.mapped.id] == nil }
      for image in new { results.updateValue(nil, forKey: image.mapped.id) }
      return new
    }
    let pinNew = { @Sendable [results] in
      let made = new.map { image in
        (image.mapped.id, Result { () throws(ImageError) in try image.pin() })
      }
      results.change { results in for (id, result) in made { results[id] = result } }
    }
    if !new.isEmpty, !POSIXThread.detach(pinNew) { pinNew() }
    return results.wait(before: .now + Self.patience) { results -> Results? in
      var found: Results = [:]
      for image in images {
        // Another thread has taken its failure: the next look tries again.
        guard let known = results[image.mapped.id] else { continue }
        guard let result = known else { return nil }
        found[image.mapped.id] = result
      }
      // A pin holds for ever; another attempt may succeed.
      for case (let id, .failure) in found { results[id] = nil }
      return found
    } ?? [:]
  }
}

extension String {
  /// The path without the parts that lead nowhere: `//` and `/./`.
  var plainPath: String {
    (isAbsolute ? "/" : "") + pathParts.filter { $0 != "." }.joined(separator: "/")
  }
}

/// The number of names that were made for files.
private let madeNames = Atomic<UInt64>(0)

/// Opens a file as an image of its own, for good. Returns the loader's name for it.
///
/// The loader keeps every name that an image was opened by, and opens no file for such a name. So a file that was
/// replaced by renaming needs another spelling of its path.
package func openAnew(_ file: String) throws(Problem) -> String {
  func isLoaded(_ name: String) -> Bool {
    // Sound: the handle is closed once.
    guard let handle = unsafe dlopen(name, RTLD_LAZY | RTLD_NOLOAD) else { return false }
    unsafe dlclose(handle)
    return true
  }
  var name = file.utf8.firstIndex(of: UInt8(ascii: "/")) == nil ? "./\(file)" : file
  if isLoaded(name) {
    name = newSpelling(of: name)
    guard !isLoaded(name) else {
      throw Problem(
        .notReplaced,
        "\(file) is the same file, or loaded already; rename a copy of the new build to it")
    }
  }
  if Task.isCancelled { throw Problem(.notReplaced, "the call was cancelled, or took too long") }
  try openLibrary(name, as: file)
  return name
}

/// Opens a file by one of its names; errors have the path.
package func openLibrary(_ name: String, as path: String) throws(Problem) {
  guard unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) == nil else { return }
  let text = unsafe String(cString: dlerror())
  throw Problem(
    .notLoaded, text.hasPrefix(name) ? path + text.dropFirst(name.count) : "\(path): \(text)")
}

/// Returns another spelling of a path, new to the loader, which keeps every name that led to an image.
package func newSpelling(of path: String) -> String {
  guard let end = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return path }
  let number = madeNames.wrappingAdd(1, ordering: .relaxed).newValue
  let detour = String(number, radix: 2).map { $0 == "1" ? "/." : "/" }.joined()
  return "\(path[..<end])\(detour)\(path[end...])"
}

extension MappedImage {
  /// The fault of its file if the file has entries that the note leaves out: sections that were linked apart.
  var lostEntries: ImageError? {
    do throws(ImageError) {
      let file = try ELFFile(OpenedFile(path: displayName, wasMapped: true))
      if file.identity.id == buildID { try file.checkDeclared() }
    } catch {
      return error.code == .malformed && error.section != nil ? error : nil
    }
    return nil
  }
}

/// The outcome of looking at each image. Lives under the Hive's lock.
struct KnownImages {
  typealias Registered = (id: MappedImage.ID, path: String, name: String)

  /// The images that are done: they declare nothing, have registered or were unmapped. The identity of an unmapped
  /// image is never used again: a thread that still copies it merges nothing.
  private var settled: Set<MappedImage.ID> = []
  /// The images that have registered and stay mapped: the paths of their files, and the loader's names.
  private(set) var registered: [Registered] = []
  /// The reasons that images could not be inspected: each may be another image by now.
  private var failures: [MappedImage.ID: ImageError] = [:]
  /// The images whose notes were trusted, and not compared with their files yet.
  var unchecked: [MappedImage] = []
  /// Faults of images that can be read.
  private var remarks: [MappedImage.ID: ImageError] = [:]

  /// The problems of whole images, each once, in the order of their identities.
  var problems: [ImageError] {
    Set(failures.keys).union(remarks.keys).sorted().flatMap { id in
      [failures[id], remarks[id]].compactMap(\.self)
    }
  }

  /// Returns the registered images whose path is this one or ends with it.
  func registered(called path: String) -> [Registered] {
    let end = "/\(path.plainPath)"
    return registered.filter { [$0.path, $0.name].contains { "/\($0.plainPath)".hasSuffix(end) } }
  }

  /// Returns whether an image is done.
  func isSettled(_ id: MappedImage.ID) -> Bool { settled.contains(id) }

  /// Settles an image, which declares nothing, or has registered from `path`. Returns false if it was settled already.
  mutating func settle(_ id: MappedImage.ID, path: String? = nil, name: String = "") -> Bool {
    guard settled.insert(id).inserted else { return false }
    failures[id] = nil
    if let path { registered.append((id, path, name)) }
    return true
  }

  /// Records the reason that an image cannot be inspected. Returns false if it is known, or the image is settled.
  mutating func fail(_ id: MappedImage.ID, _ error: ImageError) -> Bool {
    guard !isSettled(id), failures[id] != error else { return false }
    failures[id] = error
    return true
  }

  /// Records that an image was unmapped.
  mutating func forget(_ id: MappedImage.ID) {
    settled.insert(id)
    (failures[id], remarks[id]) = (nil, nil)
  }

  /// Records a fault of an image that can be read, before the image is settled or `afterwards`.
  mutating func remark(_ id: MappedImage.ID, _ error: ImageError, afterwards: Bool = false) {
    if isSettled(id) == afterwards { remarks[id] = error }
  }
}
