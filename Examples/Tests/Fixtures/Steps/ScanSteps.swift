internal import BinaryImage
internal import Registration

extension Host {
  /// What is read of images, without a Hive.
  static let scanSteps: [(String, Step)] = [
    // Reads a library that is open twice, from its file and from memory.
    ("scan-twice", { _, path in try scanTwice(path) })
  ]

  private static func scanTwice(_ path: String) throws {
    let image = try loadedImage(path)
    let stored = try RecordScanner.scan(ELFFile(path: path))
    let loaded = try RecordScanner.scan(image)
    guard stored.rejections.isEmpty, loaded.rejections.isEmpty else {
      throw StepFailure("refused: \(stored.rejections + loaded.rejections)")
    }
    guard stored.records.count == loaded.records.count else {
      throw StepFailure("\(stored.records.count) in the file, \(loaded.records.count) in memory")
    }
    for (stored, loaded) in zip(stored.records, loaded.records) {
      let expected = stored.asLoaded(at: loaded)
      if loaded != expected { print("in memory \(loaded), in the file \(expected)") }
    }
    print("\(stored.records.count) records, through the \(image.evidence)")
  }

  /// The image that was opened by this path.
  private static func loadedImage(_ path: String) throws -> LoadedImage {
    var list = ImageList()
    try list.update()
    guard let position = (0..<list.count).first(where: { list[$0].name == path }) else {
      throw StepFailure("not open")
    }
    switch list.copy([position])[0] {
    case .image(let image): return image
    case .failed(let error): throw error
    case .gone: throw StepFailure("gone")
    }
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
