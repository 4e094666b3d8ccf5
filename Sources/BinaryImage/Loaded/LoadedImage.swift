internal import CImageList

/// A copy of what the loader has mapped of an image: nothing here points into the image's memory.
///
/// Made by `ImageList.copy`. It has only the three sections of `sectionNames`, and the texts that a section of pointers
/// leads to. The image itself may be gone: `pin` keeps it.
@safe package struct LoadedImage: Image, Sendable {
  /// The sections that are copied of a loaded image: `CSupport/RecordLayout.md`.
  package static let sectionNames = SectionNote.names

  /// The identity of the image; the path is absolute if the loader or the system knows it.
  package let identity: ImageIdentity
  /// The image in the list that it was copied from.
  package let mapped: MappedImage
  /// Whether every pointer has the value that the loader gives it, as far as the copy shows.
  ///
  /// An image is in the loader's list before it is relocated. If it is neither settled nor relocated, copy it again
  /// after `waitForRelocation()`. Typed records do not show whether they are relocated, so an image with such records
  /// is never settled.
  package var isSettled: Bool { contents.isSettled }
  /// Whether it has a section of entries that is not empty.
  package var hasSections: Bool { !contents.parts.isEmpty }
  /// Whether the loader had relocated the image before it was copied; also false if the loader does not say.
  package let isRelocated: Bool
  let place: image_place
  let contents: Contents

  /// Returns every section of this name, ascending by address.
  ///
  /// Throws for a name that is not among `sectionNames`: only those sections are copied.
  package func sections(named name: String) throws(ImageError) -> [Section] {
    guard Self.sectionNames.contains(name) else {
      throw error(
        .noContents, section: name,
        "Only the three sections of this package are copied from memory; open the file instead.")
    }
    return contents.parts.compactMap { $0.section.name == name ? $0.section : nil }
  }

  /// Lends the copied bytes of a section.
  package func withBytes<Result>(
    of section: Section, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    let part = try self.part(section)
    return contents.withBytes(part.bytes, body)
  }

  /// Returns the pointer at `offset`, with the value that the loader has written.
  package func pointer(at offset: UInt64, in section: Section) throws(ImageError) -> PointerValue {
    let part = try part(section)
    return try contents.withBytes(part.bytes) { bytes throws(ImageError) in
      try pointer(at: offset, of: bytes, in: section)
    }
  }

  /// Returns the same from bytes that were lent.
  package func pointer(
    at offset: UInt64, of bytes: Span<UInt8>, in section: Section
  ) throws(ImageError) -> PointerValue {
    let word = Int(exactly: offset).flatMap {
      bytes.integer(at: $0, as: UInt.self, order: .ofThisProcess)
    }
    guard let word else {
      throw error(
        .truncated, section: section.name,
        "A pointer at offset \(offset) does not fit into \(bytes.count) bytes.")
    }
    return value(of: word)
  }

  /// Calls `body` with each slot and the text that was copied for it.
  package func forEachSlot(
    of section: Section, limit: Int, _ body: (UInt64, SlotContents, Span<UInt8>?) -> Bool
  ) throws(ImageError) -> UInt64 {
    let part = try self.part(section)
    var offset: UInt64 = 0
    for text in contents.texts[part.texts] {
      let pointer = value(of: UInt(text.address))
      let goesOn =
        if !pointer.mayLeadToText {
          body(offset, .pointer(pointer), nil)
        } else if let failure = failure(of: text, limit: limit) {
          body(offset, .unread(pointer, failure), nil)
        } else {
          contents.withText(text) { body(offset, .pointer(pointer), $0) }
        }
      guard goesOn else { break }
      offset += UInt64(MemoryLayout<UInt>.size)
    }
    return UInt64(part.bytes.count)
  }

  /// Lends the text that was copied for a slot that leads to this target. Looks at every slot.
  package func withText<Result>(
    at target: PointerValue.Target, limit: Int, _ body: (Span<UInt8>) -> Result
  ) throws(ImageError) -> Result {
    guard case .address(let linked) = target,
      case let address = mapped.bias.runtimeAddress(of: linked).rawValue,
      let text = contents.texts.first(where: { $0.address == address })
    else { throw error(.outOfImage, "No slot of pointers leads there.") }
    if let failure = failure(of: text, limit: limit) { throw failure }
    return contents.withText(text, body)
  }

  /// Returns the reason that a slot has no text; nil if one was copied for it.
  private func failure(of text: image_text, limit: Int) -> ImageError? {
    switch text.kind {
    case IMAGE_TEXT_COPIED where text.size <= limit: nil
    case IMAGE_TEXT_COPIED, IMAGE_TEXT_UNTERMINATED:
      error(
        .unterminated, "The text at \(UInt64(text.address).hexadecimal) is too long, or endless.")
    case IMAGE_TEXT_OVER_BUDGET:
      error(
        .unterminated,
        "The texts of the image exceed \(IMAGE_TEXT_BUDGET >> 20) MiB, no more are read.")
    default:
      error(
        .outOfImage,
        "\(UInt64(text.address).hexadecimal) is not among the image's file contents.")
    }
  }

  /// Returns the address in the process of a linked address of this image, valid as long as the image is mapped.
  package func runtimeAddress(of address: VirtualAddress) -> RuntimeAddress {
    mapped.bias.runtimeAddress(of: address)
  }

  private func value(of word: UInt) -> PointerValue {
    let address = RuntimeAddress(rawValue: word)
    let target: PointerValue.Target =
      if word == 0 {
        .null
      } else if (place.lowest..<place.highest).contains(word) {
        .address(mapped.bias.virtualAddress(of: address))
      } else {
        .foreign(address)
      }
    return PointerValue(
      rawValue: UInt64(word), target: target, resolution: word == 0 ? .none : .loaded)
  }

  private func part(_ section: Section) throws(ImageError) -> Contents.Part {
    guard contents.parts.indices.contains(section.index),
      contents.parts[section.index].section == section
    else { throw error(.outOfImage, section: section.name, "This is no section of the image.") }
    return contents.parts[section.index]
  }

  func error(_ code: ImageError.Code, section: String? = nil, _ message: String) -> ImageError {
    ImageError(code, image: identity.path, section: section, message: message)
  }
}

extension LoadedImage {
  /// Describes an image that declares nothing and was not read.
  init(unread mapped: MappedImage, _ entry: image_entry) {
    self.init(
      identity: ImageIdentity(of: mapped, name: ImagePaths.displayName(of: mapped)),
      mapped: mapped, isRelocated: true,
      place: image_place(), contents: .none)
  }
}

extension LoadedImage {
  /// Keeps the image mapped for the rest of the process, whatever closes it: `RTLD_NODELETE`.
  ///
  /// - Throws: `replaced` if the image is gone, or another is in its place. Then do not use its copied values as
  ///   addresses. Takes the loader's lock: call it with no lock held.
  package func pin() throws(ImageError) {
    if mapped.role != .library { return }
    var place = self.place
    for path in ImagePaths(of: mapped, at: place.lowest) {
      // Sound: the place and the text are read only during the call.
      if unsafe image_pin(&place, path) { return }
    }
    throw error(
      .replaced, "The loader does not find the image at this place any more, so it cannot be kept.")
  }
}

extension LoadedImage {
  /// Waits until the loader has relocated the image, or the image is gone. A copy that is made after that is settled.
  ///
  /// Call it with no lock held. If the loader says what it has relocated (glibc from 2.35 on), a constructor may wait
  /// for the caller. Otherwise this waits for the loader's lock.
  package func waitForRelocation() {
    var place = self.place
    // Sound: the place is read only during the call.
    unsafe image_wait_for_relocation(&place)
  }
}

extension ImageList {
  /// Whether the loader says what it has relocated: glibc does from 2.35 on.
  package static var tellsRelocation: Bool { image_relocation_is_told() }
}
