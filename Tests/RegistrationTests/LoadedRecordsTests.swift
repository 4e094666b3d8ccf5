import BinaryImage
import Registration
import TestSupport
import Testing

@Suite("A file and the same file loaded have the same records")
struct LoadedRecordsTests {
  @Test(
    "for each linker and each kind of entry",
    arguments: ["bfd", "gold", "lld", "mold"], RecordViewTests.Shape.all)
  func sameRecords(linker: String, _ shape: RecordViewTests.Shape) throws {
    try Needs.linker(linker)
    let library = try LoadedLibrary(RecordViewTests.macros + shape.source, "-fuse-ld=\(linker)")
    // The header's macros leave a note; without them the sections are found through the file.
    let hasNote = shape.source.contains("BEEHIVE_SERVICE")
    #expect(library.image.evidence == (hasNote ? .note : .file))

    let stored = try RecordScanner.scan(library.file)
    let loaded = try RecordScanner.scan(library.image)

    #expect(stored.records.count == loaded.records.count)
    for (stored, loaded) in zip(stored.records, loaded.records) {
      #expect(loaded == stored.asLoaded(at: loaded))
    }
    #expect(loaded.rejections.map(\.place) == stored.rejections.map(\.place))
  }
}

extension Rejection {
  /// What is rejected, where and why; the words may name addresses.
  fileprivate var place: [String] {
    [reason.rawValue, "\(kind)", name ?? "-", origin.section, "\(origin.index)"]
  }
}

extension Record {
  /// What memory has to say of a record of a file: everything is the same, except that it knows
  /// neither the place in the file nor the relocations, and that pointers have been written.
  fileprivate func asLoaded(at loaded: Record) -> Record {
    var record = self
    record.origin.offset = nil
    record.resolution = resolution == .none ? .none : .loaded
    record.accessor = accessor?.asLoaded(with: loaded.accessor)
    record.context = context?.asLoaded(with: loaded.context)
    return record
  }
}

extension PointerValue {
  /// The same target; the word itself is the loader's.
  fileprivate func asLoaded(with loaded: PointerValue?) -> PointerValue {
    PointerValue(
      rawValue: loaded?.rawValue ?? rawValue, target: target,
      resolution: target == .null ? .none : .loaded)
  }
}
