package import BinaryImage

/// What a loaded image declares: checked entries whose values are made on demand.
///
/// Of ten thousand entries that a library declares, a process uses a few.
package struct LoadedRecords: Sendable {
  /// The image.
  package let image: LoadedImage
  /// The well-formed entries, in the image's order.
  package let views: [RecordView]
  /// The refused entries, in the same order.
  package let rejections: [Rejection]
  private let sections: [Section]

  /// Reads the entries of an image, as `RecordScanner` does; values are made when they are asked for.
  package init(of image: LoadedImage) throws(ImageError) {
    self.image = image
    let found = try EntrySections(of: image)
    sections = found.all
    var views: [RecordView] = []
    if let most = sections.map(\.size).max() {
      views.reserveCapacity(Int(min(most / 8, 1 << 14)))
    }
    var reader = EntryReader(image)
    reader.read(found) { view, text, _, _ throws(Refusal) in
      var view = view
      view.isPlain = view.isASCII && !view.hasEscapes
      if view.encoding == .inline {
        // The loader has written the pointers.
        if text.word(at: RecordGrammar.accessorOffset) != 0 { view.isPlain = false }
      }
      if view.kind != .module, view.kind != .service { view.isPlain = false }
      views.append(view)
    }
    self.views = views
    rejections = reader.tally.rejections
  }

  /// The number of well-formed entries.
  package var count: Int { views.count }

  /// Whether the image declares nothing at all.
  package var isEmpty: Bool { views.isEmpty && rejections.isEmpty }

  /// Makes the value of an entry.
  package func record(of view: RecordView) -> Result<Record, Rejection> {
    let section = sections[Int(view.section)]
    var name: String?
    func rejection(_ reason: Rejection.Reason, _ message: String) -> Rejection {
      Rejection(
        reason: reason, kind: view.kind, name: name, message: message,
        origin: Origin(
          image: image.identity.path, section: section, named: section.name,
          index: Int(view.index), offset: view.offset))
    }
    do {
      let record = try withText(of: view) { text throws(ImageError) in
        try Record.made(of: view, text, nil, in: section, of: image)
      }
      name = record.name
      try record.checkStructure(in: image.addressedMemory)
      return .success(record)
    } catch let refusal as Refusal {
      return .failure(rejection(refusal.reason, refusal.message))
    } catch {
      return .failure(rejection(.unreadableSection, (error as? ImageError)?.message ?? "\(error)"))
    }
  }

  /// Calls `body` with each entry and the bytes of its name.
  package func forEachName(_ body: (RecordView, Span<UInt8>) -> Void) {
    for view in views {
      // What was copied once is there.
      try? withText(of: view) { text throws(ImageError) in
        body(view, text.extracting(view.name.range))
      }
    }
  }

  /// Lends the text that the parts of an entry are ranges of.
  private func withText<Value>(
    of view: RecordView, _ body: (Span<UInt8>) throws(ImageError) -> Value
  ) throws(ImageError) -> Value {
    let section = sections[Int(view.section)]
    func answer(_ text: Span<UInt8>) -> Result<Value, ImageError> {
      do throws(ImageError) { return .success(try body(text)) } catch { return .failure(error) }
    }
    return switch view.encoding {
    case .pointer:
      try image.withText(ofSlotAt: view.offset, in: section, limit: PointerGrammar.limit, answer)
        .get()
    case .inline:
      try image.withBytes(of: section) { answer($0.extracting(Int(view.offset)...)) }.get()
    }
  }
}
