package import BinaryImage
internal import LibC

/// Another process of this system, as far as it may be read, or what a core file kept of one. It is not
/// stopped.
///
/// The bytes come from `ProcessMemory`, which reads `/proc/PID/maps` and `/proc/PID/mem`, or from a
/// `CoreFile`; what became of the files, `/proc/PID/map_files` and `/proc/PID/root` tell.
package final class RemoteProcess {
  /// What it has mapped.
  package let images: [RemoteMapping]
  /// Its number; nil where a core file does not say.
  package let pid: Int?
  /// What is missing of a core file.
  package let shortage: ImageError?
  private let memory: any RemoteMemory

  /// Opens the memory of a process and lists what it has mapped.
  ///
  /// Throws `unreadable` where there is no such process, or it may not be read.
  package init(pid: Int) throws(ImageError) {
    let memory = try ProcessMemory(pid: pid)
    (self.memory, self.pid, shortage) = (memory, pid, nil)
    images = RemoteMapping.images(in: memory.ranges).map { Self.checked($0, "/proc/\(pid)") }
  }

  /// Opens a core file and lists what the process had mapped.
  ///
  /// Throws where it is no core file, or does not say which files were mapped.
  package init(core path: String) throws(ImageError) {
    let core = try CoreFile(path: path)
    memory = core
    pid = core.pid
    shortage = core.shortage
    images = RemoteMapping.images(in: core.ranges).map { Self.checked($0, in: core) }
  }

  /// Reads the headers of an image; what it declares is read when it is asked for.
  package func image(_ mapping: RemoteMapping) throws(ImageError) -> RemoteImage {
    guard let core = memory as? CoreFile else { return try RemoteImage(mapping, in: memory) }
    let headers = try RemoteHeaders(of: mapping, in: core)
    return try RemoteImage(mapping, in: CoreImageMemory(headers, path: mapping.path, in: core))
  }

  /// Says of a mapping what became of its file.
  private static func checked(_ mapping: RemoteMapping, _ directory: String) -> RemoteMapping {
    var mapping = mapping
    // What the process sees under its root, whatever this one sees.
    let root = "\(directory)/root"
    let first = mapping.ranges.first
    // Without the device: some file systems tell `stat` another one than they tell `maps`.
    func number() -> String? {
      let path = Array(root.utf8) + (mapping.pathBytes ?? Array(mapping.path.utf8))
      return fileStatus(of: path, followingLinks: true).map { String($0.st_ino) }
    }
    var other = number()
    // A file may really be called so.
    if other != first?.fileID, mapping.dropMark() { other = number() }
    let isSame = other == first?.fileID
    mapping.isReplaced = other != nil && !isSame
    if other == nil { mapping.isDeleted = true }
    mapping.files =
      ["\(directory)/map_files/\(first?.mapping ?? "")"] + (isSame ? [root + mapping.path] : [])
    return mapping
  }

  private static func checked(_ mapping: RemoteMapping, in core: CoreFile) -> RemoteMapping {
    // What is no image, or has no header there, is told when it is read.
    guard let headers = try? RemoteHeaders(of: mapping, in: core) else { return mapping }
    var mapping = mapping
    if fileStatus(of: mapping.path.utf8, followingLinks: true) == nil { _ = mapping.dropMark() }
    switch CoreImageMemory(headers, path: mapping.path, in: core).state {
    case .same, .unknown: break
    case .gone: mapping.isDeleted = true
    case .other: (mapping.isDeleted, mapping.isReplaced) = (true, true)
    }
    return mapping
  }
}
