internal import LibC

/// The reason that an image, or a part of it, could not be read, and its location.
public struct ImageError: Error, Hashable, Codable, Sendable {
  /// The cause, as a stable code: `section-dump` prints `rawValue` as the code of a problem.
  public struct Code: RawRepresentable, Hashable, Codable, Sendable {
    /// The code as it is printed and documented.
    public let rawValue: String

    /// Wraps a code; the known ones are static members.
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The cause.
  public var code: Code
  /// The path of the file or image.
  public var image: String
  /// The section in question, if there is one.
  package var section: String?
  /// The slot or record in the section, if there is one.
  package var index: Int?
  /// The offset in the file, if it is known.
  package var offset: FileOffset?
  /// One sentence for a person: what was found, what was expected, what to do.
  public var message: String

  /// Describes a failure; the location is as exact as the caller knows it.
  package init(
    _ code: Code, image: String, section: String? = nil, index: Int? = nil,
    offset: FileOffset? = nil, message: String
  ) {
    self.code = code
    self.image = image
    self.section = section
    self.index = index
    self.offset = offset
    self.message = message
  }
}

extension ImageError.Code {
  /// The file cannot be opened or read; the message carries the system's reason.
  package static let unreadable = Self(rawValue: "unreadable")
  /// The file is no object file.
  package static let notAnObject = Self(rawValue: "not-an-object")
  /// A format, machine or encoding that this reader does not know.
  package static let unsupported = Self(rawValue: "unsupported")
  /// A structure that is needed lies outside the file, or a declared extent exceeds it.
  package static let truncated = Self(rawValue: "truncated")
  /// A structure contradicts itself or another one.
  package static let malformed = Self(rawValue: "malformed")
  /// The file has no image for the wanted machine.
  package static let noSuchArchitecture = Self(rawValue: "no-such-architecture")
  /// The section table is missing, so sections cannot be found by name.
  package static let sectionTableMissing = Self(rawValue: "section-table-missing")
  /// The section has no bytes in this file, as in a file of split debug information.
  package static let noContents = Self(rawValue: "no-contents")
  /// A file of a kind that registers nothing: a core file, or split debug information.
  package static let noEntries = Self(rawValue: "no-entries")
  /// A pointer or a string lies outside what the image maps.
  package static let outOfImage = Self(rawValue: "out-of-image")
  /// A string has no terminator before the end of what is mapped, or before the limit.
  package static let unterminated = Self(rawValue: "unterminated")
  /// The bytes are encrypted in this file; only a loaded copy has them.
  package static let encrypted = Self(rawValue: "encrypted")
  /// The file on disk is not the one that is loaded: deleted, or replaced by another.
  package static let replaced = Self(rawValue: "replaced")
  /// The image has a runtime of its own besides that of the process, which does not see what it registers there.
  package static let secondRuntime = Self(rawValue: "second-runtime")
}

extension ImageError {
  /// Makes the error of an image that contains a second runtime.
  ///
  /// - Parameter image: The name of the image.
  /// - Returns: The error.
  package static func secondRuntime(in image: String) -> ImageError {
    ImageError(
      .secondRuntime, image: image,
      message: "A second BeeHive runtime is in this image. Code of the image uses that runtime, "
        + "not this Hive; link the image against the libBeeHive.so of the process.")
  }
}

extension ImageError: CustomStringConvertible {
  /// `libshop.so: BeehiveMods[3] (offset 0x3018): …`
  public var description: String {
    var place = image
    if let section {
      place += ": \(section)"
      if let index { place += "[\(index)]" }
    }
    if let offset { place += " (offset \(offset.rawValue.hexadecimal))" }
    return "\(place): \(message)".escaped
  }
}

extension ImageError {
  /// Describes a failure of the system by its number in `errno`, after a few words.
  package init(system number: Int32, _ image: String, _ words: String = "") {
    self.init(.unreadable, image: image, message: "\(words)\(systemMessage(number)).")
  }
}

extension String {
  /// Whether a message says that the process has as many files open as it may.
  package var saysTooManyFiles: Bool { hasSuffix("\(systemMessage(EMFILE)).") }
}
