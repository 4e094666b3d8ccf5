internal import CImageList

/// The images that the loader has mapped into this process, in its order.
///
/// Keep one list and `update()` it: a walk then looks only at new images. Nothing here takes a lock of ours.
/// `probe`, `update` and `copy` take only the lock that the loader holds during a walk. They wait for no constructor.
/// Images of other `dlmopen` namespaces are unseen.
///
/// `dl_iterate_phdr`; dyld's image list on Darwin. The callback of `dl_iterate_phdr` copies headers and notes.
/// libelf reads the copies right after the pass: `elf_memory`, `gelf_getphdr`, `gelf_getnote`.
@safe package struct ImageList: ~Copyable, @unchecked Sendable {
  // Sound: both lists own their memory until deinit, and nothing else refers to it.
  private var list = unsafe image_list()
  private var previous = unsafe image_list()
  private var ids: [Int] = []
  private var nextID = 0

  /// The numbers of images that were ever mapped and unmapped: `dlpi_adds` and `dlpi_subs`.
  package struct Counters: Hashable, Sendable {
    /// Images ever mapped.
    package var adds: UInt64
    /// Images ever unmapped.
    package var subs: UInt64
  }

  /// The empty list: everything is new to its first update.
  package init() {}

  deinit {
    var (list, previous) = unsafe (list, previous)
    unsafe image_list_free(&list)
    unsafe image_list_free(&previous)
  }

  /// Returns how many images the loader has mapped and unmapped; nil if it does not count.
  ///
  /// Constant time. If the result equals `counters`, an update would change nothing.
  package static func probe() -> Counters? {
    var counters = Counters(adds: 0, subs: 0)
    return unsafe image_list_probe(&counters.adds, &counters.subs) ? counters : nil
  }

  /// The answer that `probe` would have given during the last update.
  package var counters: Counters? {
    unsafe list.counted ? Counters(adds: list.adds, subs: list.subs) : nil
  }

  /// The bias of the image that this code is in.
  package static let home = LoadBias(rawValue: image_home_bias())

  /// The number of images.
  package var count: Int { ids.count }

  /// Walks the loader's list and brings this one up to date.
  ///
  /// Looks only at new images, unless something was unmapped since the last time. Then an image that seems kept may
  /// have been replaced: another one at the same place, of the same name, size and build-id, looks the same in the
  /// loader's list. Code that relies on the contents of an image that is not pinned copies it again.
  ///
  /// - Returns: The positions of images that were not in the list before, the images that are gone, and whether the
  ///   list may hide that an image was replaced.
  /// - Throws: ``ImageError`` if memory runs out; the list is then as it was.
  @discardableResult
  package mutating func update() throws(ImageError) -> (
    added: Range<Int>, removed: [MappedImage.ID], mayHideReplacements: Bool
  ) {
    guard unsafe image_list_scan(&list, &previous) else {
      throw ImageError(.unreadable, image: "", message: "No memory for the list of images.")
    }
    let hasLost = unsafe previous.count > 0
    let removed = hasLost ? carryOver() : []
    let added = ids.count..<(unsafe list.count)
    ids.append(contentsOf: nextID..<nextID + added.count)
    nextID += added.count
    return (added, removed, hasLost)
  }

  /// The image at `position`.
  package subscript(position: Int) -> MappedImage {
    let entry = self.entry(position)
    return unsafe MappedImage(
      id: ids[position], name: String(cString: list.names + Int(entry.name)),
      role: MappedImage.Role(rawValue: entry.role) ?? .library,
      bias: LoadBias(rawValue: entry.bias),
      header: entry.header == 0 ? nil : RuntimeAddress(rawValue: entry.header),
      note: MappedImage.Note(rawValue: entry.note) ?? MappedImage.Note.none, buildID: entry.buildID,
      carriesRuntime: entry.runtime)
  }

  /// Returns the identity of the image at `position`, without a description of it.
  package func id(at position: Int) -> MappedImage.ID { ids[position] }

  /// Returns the address of the header of the image at `position`, without a description of the image.
  package func header(at position: Int) -> RuntimeAddress? {
    let header = entry(position).header
    return header == 0 ? nil : RuntimeAddress(rawValue: header)
  }

  /// Returns the position of the image that has this identity, if it is still in the list.
  package func position(of id: MappedImage.ID) -> Int? {
    // Identities ascend: survivors keep their order and new images come last.
    let position = ids.sortedIndex(where: { $0 >= id })
    return position < ids.count && ids[position] == id ? position : nil
  }

  /// Returns the description that the C side keeps; checks `position`.
  func entry(_ position: Int) -> image_entry {
    precondition(ids.indices.contains(position), "no image at \(position)")
    // Sound: the list holds as many entries as there are identities.
    return unsafe list.entries[position]
  }

  /// Walks the loader's list again and copies images. Requests are positions of this list. Returns false if memory runs
  /// out.
  func copy(
    _ requests: [image_request], _ wanted: [image_wanted], into copies: inout image_copies
  ) -> Bool {
    // Sound: read during the walk only, and a list that is borrowed is not updated.
    unsafe withUnsafePointer(to: list) { list in
      unsafe image_list_copy(list, requests, requests.count, wanted, wanted.count, &copies)
    }
  }

  /// Matches the list with its state before, and returns the images that are gone.
  ///
  /// The loader appends new images, so the others keep their order.
  private mutating func carryOver() -> [MappedImage.ID] {
    var kept: [Int] = []
    var removed: [Int] = []
    kept.reserveCapacity(unsafe list.count)
    for old in 0..<(unsafe previous.count) {
      // Sound: both positions are below the counts of their lists.
      if unsafe kept.count < list.count, unsafe image_list_same(&previous, old, &list, kept.count) {
        kept.append(ids[old])
      } else {
        removed.append(ids[old])
      }
    }
    ids = kept
    return removed
  }
}

extension image_entry {
  /// The bytes of the build-id.
  var buildID: [UInt8] {
    var bytes = build_id
    // Sound: the tuple is IMAGE_BUILD_ID_LIMIT bytes in a row, and the size is at most that.
    return unsafe withUnsafeBytes(of: &bytes) { bytes in
      unsafe Array(UnsafeRawBufferPointer(rebasing: bytes.prefix(Int(build_id_size))))
    }
  }
}

/// The files that this process has loaded.
package struct LoadedFiles {
  /// The build-ids of the images, and the loader's names for them, by the files that the names lead to today. The names
  /// of several builds may lead to one file.
  private var images: [FileStamp.FileNumber: [(id: [UInt8], name: String)]] = [:]
  /// The build-ids of images whose names lead to no file any more.
  private var adrift: Set<[UInt8]> = []

  /// Asks the loader for all images except those with these names.
  package init(without names: [String] = []) {
    var list = ImageList()
    // Without memory for the list, no file counts as loaded.
    guard (try? list.update()) != nil else { return }
    for (image, name) in list.named where !names.has(image.name) {
      if let stamp = try? fileStamp(of: name.utf8) {
        images[stamp.number, default: []].append((image.buildID, image.name))
      } else if !image.buildID.isEmpty {
        adrift.insert(image.buildID)
      }
    }
  }

  /// Returns whether a file is loaded: the same file, of the same build.
  package func contains(_ file: FileStamp.FileNumber, _ id: [UInt8]) -> Bool {
    if let loaded = images[file] { return loaded.contains { $0.id == id } }
    return !id.isEmpty && adrift.contains(id)
  }

  /// Returns the loader's name for a file; nil if it is not loaded. Without a build-id nobody knows, because another
  /// file may have the path of the loaded one.
  package func name(of file: FileStamp.FileNumber, _ id: [UInt8]) -> String? {
    id.isEmpty ? nil : images[file]?.first { $0.id == id }?.name
  }

  /// Returns the loader's name for a file, if its names lead to that file today.
  package func name(of file: FileStamp.FileNumber) -> String? { images[file]?.last?.name }
}
