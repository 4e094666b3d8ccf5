internal import BinaryImage

/// What a scan has found so far, and the slot it stands at.
///
/// A section of eight-byte slots can point a million times at one long text, so what a scan holds
/// is bounded; what is left out is counted and said.
struct ScanCollector {
  static let recordLimit = 1 << 18
  static let textLimit = 64 << 20
  static let rejectionLimit = 1024

  let image: String
  private(set) var scan = Scan()
  /// The name that origins carry.
  private(set) var sectionName = ""
  /// What the slot declares, as far as it is known.
  var kind = RecordKind.unknown
  private var section: Section?
  /// The slot that is being read, counted over all sections of this name.
  var index = 0
  private var textSize = 0
  private var leftCount = 0
  private var rejectedHere = 0
  private var unlisted = 0

  init(image: String) {
    self.image = image
  }

  /// Starts over at slot 0, for the sections of one name.
  mutating func begin(sectionsNamed name: String, of kind: RecordKind = .unknown) {
    sectionName = name
    self.kind = kind
    section = nil
    index = 0
    rejectedHere = 0
    unlisted = 0
  }

  mutating func begin(_ section: Section, entryCount: Int) {
    self.section = section
    // A size that is a lie must not reserve memory; growth is cheap beyond this.
    let total = scan.records.count + min(entryCount, 1 << 14)
    if scan.records.capacity < total { scan.records.reserveCapacity(total) }
  }

  /// Says what was refused but not listed, once the sections of one name are read.
  mutating func endSections() {
    guard unlisted > 0 else { return }
    scan.rejections.append(
      Rejection(
        .limitExceeded, of: kind, origin: origin(at: 0),
        message: "\(unlisted) more entries of \(sectionName) were refused; "
          + "the first \(Self.rejectionLimit) are listed"))
  }

  func origin(at offset: UInt64) -> Origin {
    let base = section?.address ?? VirtualAddress(rawValue: 0)
    return Origin(
      image: image, section: sectionName, index: index,
      address: VirtualAddress(rawValue: base.rawValue &+ offset),
      offset: section?.offset.map { FileOffset(rawValue: $0.rawValue &+ offset) })
  }

  mutating func accept(_ record: consuming Record) {
    textSize += record.name.utf8.count + (record.implementation?.utf8.count ?? 0)
    scan.records.append(record)
  }

  /// Counts a record that is not kept here.
  mutating func leave(textSize: Int) {
    self.textSize += textSize
    leftCount += 1
  }

  /// Room for another record; where there is none, that was said and the caller stops.
  mutating func hasRoom(at offset: UInt64) -> Bool {
    let count = scan.records.count + leftCount
    if count < Self.recordLimit, textSize < Self.textLimit { return true }
    scan.rejections.append(
      Rejection(
        .limitExceeded, of: kind, origin: origin(at: offset),
        message: "the image declares more than \(Self.recordLimit) entries or "
          + "\(Self.textLimit >> 20) MiB of names; from this entry on nothing was read"))
    return false
  }

  mutating func reject(
    _ reason: Rejection.Reason, at offset: UInt64, name: String? = nil, _ message: String
  ) {
    guard rejectedHere < Self.rejectionLimit else {
      unlisted += 1
      return
    }
    rejectedHere += 1
    scan.rejections.append(
      Rejection(reason, of: kind, name: name, origin: origin(at: offset), message: message))
  }
}
