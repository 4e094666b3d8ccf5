internal import BinaryImage
public import Registration

/// Where an entry was declared.
public enum Source: Hashable, Sendable {
  /// In a section of an image.
  case image(Origin)
  /// By a call to the API; `file` is a `#fileID`, or a path where C said it.
  case code(file: String, line: UInt)
  /// In a file that the host decoded, at this place.
  case file(String, keyPath: String)
}

extension Source: CustomStringConvertible {
  /// `libshop.so BeehiveRecords[1]`, `Shop/Cart.swift:12`, or `hive.json services[0]`.
  public var description: String { description(folders: 0) }
}
