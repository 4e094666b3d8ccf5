internal import BinaryImage

/// What a reader has counted and refused so far, and its current slot.
///
/// A section of eight-byte slots can point a million times at one long text, so what a reader keeps is bounded.
/// What it leaves out is counted and reported.
struct EntryTally {
  static let recordLimit = 1 << 18
  /// In bytes: more than all names have that an image declares, however large it is.
  private static let mostText = 64 << 20
  static let rejectionLimit = 1024

  private let image: String
  private(set) var rejections: [Rejection] = []
  /// What the slot declares, as far as it is known.
  var kind = RecordKind.unknown
  /// The slot that is being read, counted over all sections of its name.
  var index = 0
  /// The number of the section, over all names.
  private(set) var sectionNumber = -1
  private var sectionName = ""
  private var section: Section?
  private var recordCount = 0
  private var textSize = 0
  /// The most bytes of names that are read. Names may share their bytes, so the sections decide.
  private var textLimit = 0
  private var rejectedHere = 0
  private var unlisted = 0

  init(image: String) { self.image = image }

  /// Takes the size of all sections that will be read, in bytes.
  mutating func admit(_ size: UInt64) {
    textLimit = (1 << 20) + 16 * Int(min(size, UInt64(Self.mostText / 16)))
  }

  /// Starts over at slot 0, for the sections of one name.
  mutating func begin(sectionsNamed name: String, of kind: RecordKind) {
    sectionName = name
    self.kind = kind
    section = nil
    index = 0
    rejectedHere = 0
    unlisted = 0
  }

  mutating func begin(_ section: Section) {
    self.section = section
    sectionNumber += 1
  }

  /// Says what was refused but not listed, once the sections of one name are read.
  mutating func endSections() {
    guard unlisted > 0 else { return }
    append(
      Refusal(
        .limitExceeded,
        "\(unlisted) more entries of \(sectionName) were refused; "
          + "the first \(Self.rejectionLimit) are listed"), at: 0)
  }

  /// Counts an entry that was taken in.
  mutating func count(_ view: RecordView) {
    recordCount += 1
    textSize += Int(view.name.count) + Int(view.implementation.count)
  }

  /// Room for another entry; where there is none, that was said and the caller stops.
  mutating func hasRoom(at offset: UInt64) -> Bool {
    if recordCount < Self.recordLimit, textSize < textLimit { return true }
    append(
      Refusal(
        .limitExceeded,
        "the image declares more than \(Self.recordLimit) entries or "
          + "\(textLimit >> 10) KiB of names; from this entry on nothing was read"), at: offset)
    return false
  }

  mutating func reject(_ refusal: Refusal, at offset: UInt64) {
    guard rejectedHere < Self.rejectionLimit else {
      unlisted += 1
      return
    }
    rejectedHere += 1
    append(refusal, at: offset)
  }

  private mutating func append(_ refusal: Refusal, at offset: UInt64) {
    rejections.append(
      Rejection(
        reason: refusal.reason, kind: kind, name: refusal.name, message: refusal.message,
        origin: Origin(
          image: image, section: section, named: sectionName, index: index, offset: offset)))
  }
}

extension Origin {
  /// The place of an entry in a section; without one, in all of a name.
  init(image: String, section: Section?, named name: String, index: Int, offset: UInt64) {
    let base = section?.address ?? VirtualAddress(rawValue: 0)
    self.init(
      image: image, section: name, index: index,
      address: VirtualAddress(rawValue: base.rawValue &+ offset),
      offset: section?.offset.map { FileOffset(rawValue: $0.rawValue &+ offset) })
  }
}
