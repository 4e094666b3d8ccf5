internal import CImageList

/// The copied sections of one image and the texts that their pointers lead to.
///
/// Shared by all copies of a `LoadedImage` and never changed.
final class Contents: Sendable {
  /// A section and its bytes.
  struct Part: Sendable {
    let section: Section
    let bytes: Range<Int>
  }

  /// What stands at an address that a pointer section leads to.
  struct Text: Sendable {
    /// Where a text is, or why there is none.
    enum State: Sendable {
      case copied(Range<Int>)
      case outside
      case unterminated
      case overBudget
    }

    let address: UInt
    let state: State
  }

  /// Sections in the order of `LoadedImage.sectionNames`, each ascending by address.
  let parts: [Part]
  /// Sections and texts, one after the other.
  let bytes: [UInt8]
  /// Whether every pointer leads into the image, and there are no typed records.
  let isSettled: Bool
  private let texts: [Text]

  /// Nothing.
  static let none = Contents(parts: [], bytes: [], texts: [], isSettled: true)

  init(parts: [Part], bytes: [UInt8], texts: [Text], isSettled: Bool) {
    self.parts = parts
    self.bytes = bytes
    // Compilers place texts in the order of their entries, or in the reverse one.
    let isAscending = zip(texts, texts.dropFirst()).allSatisfy { $0.address <= $1.address }
    self.texts = isAscending ? texts : texts.sorted { $0.address < $1.address }
    self.isSettled = isSettled
  }

  /// The text that starts at a runtime address.
  func text(at address: UInt) -> Text? {
    var low = 0
    var high = texts.count
    while low < high {
      let middle = (low + high) / 2
      if texts[middle].address < address { low = middle + 1 } else { high = middle }
    }
    return low < texts.count && texts[low].address == address ? texts[low] : nil
  }
}
