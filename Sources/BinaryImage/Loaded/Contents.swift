/// What the slot of a pointer section leads to.
package struct SlotText: Sendable {
  /// Whether there is a text, or why there is none.
  package enum State: Sendable {
    /// It was copied.
    case copied
    /// The slot leads to no text: null, or outside what the image maps of its file.
    case outside
    /// No NUL comes in time.
    case unterminated
    /// The image has more text than anybody copies.
    case overBudget
  }

  /// The slot's value.
  package let address: RuntimeAddress
  /// Where the text stands in the image's copy, without its NUL; empty where there is none.
  package let bytes: Range<Int>
  /// Whether there is one.
  package let state: State
}

/// The copied sections of one image and the texts that their pointers lead to.
///
/// Shared by all copies of a `LoadedImage` and never changed.
final class Contents: Sendable {
  /// A section, its bytes, and what its slots lead to where it holds pointers.
  struct Part: Sendable {
    let section: Section
    let bytes: Range<Int>
    let texts: Range<Int>
  }

  /// Sections in the order of `LoadedImage.sectionNames`, each ascending by address.
  let parts: [Part]
  /// Sections and texts, one after the other.
  let bytes: CopiedBytes
  /// What every slot leads to, in the order of the slots.
  let texts: [SlotText]
  /// Whether every pointer leads into the image, and there are no typed records.
  let isSettled: Bool

  /// Nothing.
  static let none = Contents(parts: [], bytes: CopiedBytes(), texts: [], hasRecords: false)

  init(parts: [Part], bytes: consuming CopiedBytes, texts: [SlotText], hasRecords: Bool) {
    self.parts = parts
    self.bytes = bytes
    self.texts = texts
    isSettled = !hasRecords && texts.allSatisfy { $0.state != .outside }
  }
}
