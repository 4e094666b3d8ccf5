internal import CImageList

extension ImageList {
  /// What became of one image that was to be copied.
  package enum Copy: Sendable {
    /// It is as it was in the list.
    case image(LoadedImage)
    /// It has been unmapped since the list was updated.
    case gone
    /// Its sections cannot be found, for this reason; whether it declares anything is unknown.
    case failed(ImageError)
  }

  /// Copies the sections of the images at `positions`.
  ///
  /// An image whose note is valid is read from memory alone. For any other its file is opened, and
  /// believed only if it is the one that is mapped. An image whose note libelf did not read is an error:
  /// its file would need libelf too.
  package borrowing func copy(_ positions: [Int]) -> [Copy] {
    var answers: [Copy] = []
    answers.reserveCapacity(positions.count)
    // A walk for each group: what is read of the files of one is gone before those of the next.
    for start in stride(from: 0, to: positions.count, by: Self.groupSize) {
      copy(positions[start..<min(start + Self.groupSize, positions.count)], into: &answers)
    }
    return answers
  }

  private static var groupSize: Int { 32 }

  private borrowing func copy(_ positions: ArraySlice<Int>, into answers: inout [Copy]) {
    var locators: [SectionLocator] = []
    locators.reserveCapacity(positions.count)
    for position in positions {
      let mapped = self[position]
      let entry = entry(position)
      if mapped.role == .vdso {
        answers.append(.image(LoadedImage(unread: mapped, entry)))
      } else if mapped.note == .unread {
        answers.append(.failed(.unreadByLibelf(ImagePaths.displayName(of: mapped))))
      } else {
        locators.append(
          SectionLocator(answer: answers.count, position: position, mapped: mapped, entry: entry))
        answers.append(.gone)
      }
    }
    // One round for almost all; another for each path that leads to something else.
    while !locators.isEmpty {
      locators.removeAll { locator in
        guard let failure = locator.failure else { return false }
        answers[locator.answer] = .failed(failure)
        return true
      }
      guard var copies = LoaderCopies(of: locators, in: self) else {
        for locator in locators {
          answers[locator.answer] = .failed(locator.error(.unreadable, "No memory."))
        }
        break
      }
      var again: [SectionLocator] = []
      for (index, locator) in locators.enumerated() {
        if let answer = copies.answer(index, locator) {
          answers[locator.answer] = answer
        } else {
          locator.openAnotherFile()
          again.append(locator)
        }
      }
      locators = again
    }
  }
}

extension ImageError {
  /// Says that the walk could not read an image, because libelf opened nothing.
  fileprivate static func unreadByLibelf(_ image: String) -> ImageError {
    ImageError(
      .unreadable, image: image,
      message: "libelf did not open the copy of the image's headers and notes (elf_memory), so its "
        + "entries are missing. Check that libelf.so.1 is that of elfutils and that there is memory."
    )
  }
}
