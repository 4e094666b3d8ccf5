internal import BinaryImage
internal import Registration

extension RegisteredEntry {
  /// Makes an entry of what was checked; its accessor may be asked.
  convenience init(_ view: RecordView, of outline: Outline, order: UInt64, binding: Binding) {
    let image = outline.image
    switch outline.record(of: view) {
    case .success(let record):
      self.init(
        order: order, kind: record.kind, name: record.name,
        implementation: record.implementation, attributes: record.attributes,
        source: .image(record.origin), image: image.mapped.id,
        scope: record.attributes.serviceScope,
        isC: record.attributes.isC, progress: binding.progress(of: record, in: image.mapped.bias))
    case .failure(let rejection): self.init(rejection, order: order, in: image)
    }
  }

  /// Makes an entry that says what is wrong with it.
  convenience init(_ rejection: Rejection, order: UInt64, in image: LoadedImage) {
    let code = Problem.Code(rawValue: rejection.reason.rawValue)
    self.init(
      order: order, kind: rejection.kind,
      name: rejection.name ?? "", implementation: nil, attributes: Attributes(),
      source: .image(rejection.origin), image: image.mapped.id, scope: .transient, isC: false,
      progress: .rejected(Problem(code, rejection.message)))
  }

  /// Whether two entries at the same place of two images say the same, so that one may replace the
  /// other. What an accessor does is not compared: C images have none.
  func declaresTheSame(as other: RegisteredEntry) -> Bool {
    kind == other.kind && name == other.name && implementation == other.implementation
      && attributes == other.attributes && source == other.source
      && structure == other.structure
  }
}
