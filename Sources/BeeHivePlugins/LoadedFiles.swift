internal import BinaryImage
internal import PluginFiles

/// Which files this process has loaded.
struct LoadedFiles {
  /// The build-ids of the images by the files that their names lead to today.
  private var images: [FileStamp.FileNumber: [UInt8]] = [:]
  /// The build-ids of images whose names lead to no file any more.
  private var adrift: Set<[UInt8]> = []

  /// Asks the loader.
  init() {
    var list = ImageList()
    // Without memory for the list nothing is known to be loaded.
    guard (try? list.update()) != nil else { return }
    for position in 0..<list.count {
      let image = list[position]
      if let stamp = try? fileStamp(of: image.name.utf8) {
        images[stamp.number] = image.buildID
      } else if !image.buildID.isEmpty {
        adrift.insert(image.buildID)
      }
    }
  }

  /// Returns whether the file of a manifest is loaded: the same file, of the same build.
  func contains(_ manifest: PluginManifest) -> Bool {
    let id = manifest.identity.id
    if let loaded = images[manifest.stamp.number] { return loaded == id }
    return !id.isEmpty && adrift.contains(id)
  }
}
