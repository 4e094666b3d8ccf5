public import BinaryImage

/// The location of an entry: image, section, slot and address.
public struct Origin: Hashable, Codable, Sendable, CustomStringConvertible {
  /// The path of the file, or the loader's name for the image.
  public var image: String
  /// The section, by its name in the file: `BeehiveMods`, `BeehiveServices`, `BeehiveRecords`.
  public var section: String
  /// The slot, counted over the concatenation of all sections of that name.
  public var index: Int
  /// The linked address of the entry; relative to its section in objects.
  public var address: VirtualAddress
  /// The entry's offset in the file; nil for a loaded image.
  public var offset: FileOffset?

  /// Describes a location.
  ///
  /// - Parameters:
  ///   - image: The path of the file, or the loader's name for the image; empty for the executable.
  ///   - section: The section's name in the file.
  ///   - index: The slot, counted over all sections of that name.
  ///   - address: The linked address of the entry; relative to its section in objects.
  ///   - offset: The entry's offset in the file; nil for a loaded image.
  public init(
    image: String, section: String, index: Int, address: VirtualAddress, offset: FileOffset? = nil
  ) {
    self.image = image
    self.section = section
    self.index = index
    self.address = address
    self.offset = offset
  }

  /// `libshop.so BeehiveRecords[1]`: the file's name without its folders.
  public var description: String { description(folders: 0) }

  /// Returns the location, with folders of the image's path.
  ///
  /// - Parameter folders: The number of folders before the file's name, at most as many as the path has.
  /// - Returns: `lib/libshop.so BeehiveRecords[1]` for one folder.
  public func description(folders: Int) -> String {
    let parts = image.split(separator: "/")
    let name = parts.isEmpty ? "(executable)" : parts.suffix(folders + 1).joined(separator: "/")
    return "\(name) \(section)[\(index)]".escaped
  }
}
