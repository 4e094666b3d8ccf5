internal import BinaryImage
internal import Registration

extension RegisteredEntry {
  /// Makes a plain entry: calls nobody, since it has no accessor.
  convenience init(_ plain: Outline.PlainEntry, of outline: Outline, firstOrder: UInt64) {
    let order = firstOrder + UInt64(plain.position)
    switch outline.record(of: plain) {
    case .success(let record):
      self.init(record, order: order, in: outline.image, binding: Binding(hostBindings: [:]))
    case .failure(let rejection): self.init(rejection, order: order, in: outline.image)
    }
  }

  /// Makes an entry of a record, whose accessor may be asked.
  convenience init(
    _ record: Record, order: UInt64, in image: LoadedImage, binding: Binding
  ) {
    let (scope, unknown) = Self.scope(of: record)
    self.init(
      order: order, kind: record.kind, name: record.name,
      implementation: record.implementation, attributes: record.attributes,
      source: .image(record.origin), image: image.mapped.id, scope: scope,
      isC: record.attributes.abi?.hasPrefix("c-") == true,
      progress: unknown.map(Progress.rejected)
        ?? binding.progress(of: record, in: image.mapped.bias))
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

  /// The scope that a record declares; a problem where there is no such scope.
  private static func scope(of record: Record) -> (Scope, Problem?) {
    guard let text = record.attributes.scope else { return (.transient, nil) }
    if let scope = Scope(rawValue: text) { return (scope, nil) }
    let problem = Problem(
      Problem.Code(rawValue: Rejection.Reason.badAttribute.rawValue),
      "scope=\(text) is unknown; write \(Scope.allCases.map(\.rawValue).joined(separator: ", "))")
    return (.transient, problem)
  }

  /// Whether two entries at the same place of two images say the same, so that one may stand for the
  /// other. What an accessor does is not compared: C images have none.
  func declaresTheSame(as other: RegisteredEntry) -> Bool {
    kind == other.kind && name == other.name && implementation == other.implementation
      && attributes == other.attributes && source == other.source
      && structure == other.structure
  }
}
