// What is wrong with a file: the errors that several readers tell.

extension OpenedFile {
  /// Throws an error that names this file where something is not as it has to be.
  @inline(__always)
  package func check(
    _ isRight: Bool, _ code: ImageError.Code, _ message: @autoclosure () -> String,
    section: @autoclosure () -> String? = nil, at offset: @autoclosure () -> UInt64? = nil
  ) throws(ImageError) {
    if !isRight { throw error(code, message(), section: section(), at: offset()) }
  }

  /// The error for a text that goes on for too long.
  package func unterminated(_ limit: Int, at offset: UInt64?) -> ImageError {
    error(
      .unterminated, "No NUL ends the text within \(limit) bytes or before its mapping ends.",
      at: offset)
  }

  /// The error for a target at which this file has no text.
  package func noText(at target: PointerValue.Target) -> ImageError {
    let reason =
      switch target {
      case .null: "A null pointer leads to no text."
      case .imported(let symbol, let addend):
        "The text is '\(PointerValue.name(ofImport: symbol, addend: addend))' of another image."
      case .foreign(let address):
        "\(UInt64(address.rawValue).hexadecimal) is an address of a process."
      case .unresolvable(let reason): reason
      case .address, .section: "The pointer leads out of the file."
      }
    return error(.outOfImage, reason)
  }

  /// The error for an address that no segment of the file has bytes for.
  package func outsideSegments(_ address: VirtualAddress) -> ImageError {
    error(.outOfImage, "No segment holds bytes of the file at \(address.rawValue.hexadecimal).")
  }
}

extension ImageError {
  /// What the system says of a file by a number of `errno`, behind a few words.
  package init(system number: Int32, _ image: String, _ words: String = "") {
    self.init(.unreadable, image: image, message: "\(words)\(systemMessage(number)).")
  }
}
