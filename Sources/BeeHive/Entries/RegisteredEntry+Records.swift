internal import BinaryImage
internal import Registration

extension RegisteredEntry {
  /// Makes an entry of what was checked; its accessor may be asked.
  convenience init(_ view: RecordView, of records: LoadedRecords, order: UInt64, binding: Binding) {
    let image = records.image
    switch records.record(of: view) {
    case .success(let record):
      self.init(
        order: order, kind: record.kind, name: record.name,
        implementation: record.implementation, attributes: record.attributes,
        source: .image(record.origin), image: image.mapped.id,
        progress: binding.progress(of: record, in: image.mapped.bias))
    case .failure(let rejection): self.init(rejection, order: order, in: image)
    }
  }

  /// Makes an entry that says what is wrong with it.
  convenience init(_ rejection: Rejection, order: UInt64, in image: LoadedImage) {
    self.init(
      order: order, kind: rejection.kind, name: rejection.name ?? "",
      source: .image(rejection.origin), image: image.mapped.id,
      progress: .rejected(Problem(rejection)))
  }

  /// Makes an entry of a service that code or a file registers.
  convenience init(
    service name: String, implementation: String? = nil, given: String?, scope: Scope? = nil,
    priority: Int = 0, source: Source, isOverride: Bool = false, progress: Progress
  ) {
    var attributes = Attributes()
    attributes.name = given
    attributes.priority = priority
    attributes.scope = scope?.rawValue
    self.init(
      kind: .service, name: name, implementation: implementation, attributes: attributes,
      source: source, isOverride: isOverride, progress: progress)
  }

  /// Makes an entry of a module that code or a file registers.
  convenience init(
    module name: String, version: String?, level: ModuleLevel, priority: Int, requires: [String],
    after: [String], source: Source, progress: Progress
  ) {
    var attributes = Attributes()
    attributes.version = version
    attributes.level = level == .basic ? level.rawValue : nil
    attributes.priority = priority
    attributes.requires = requires
    attributes.after = after
    self.init(
      kind: .module, name: name, attributes: attributes, source: source, progress: progress)
  }

  /// Whether two entries at the same place of two images say the same, so that one may replace the
  /// other. What an accessor does is not compared: C images have none.
  func declaresTheSame(as other: RegisteredEntry) -> Bool {
    kind == other.kind && name == other.name && implementation == other.implementation
      && attributes == other.attributes && source == other.source
      && structure == other.structure
  }
}

extension RegisteredEntry {
  /// Where the structure that it leads to may be.
  var memory: ForeignMemory { image == nil ? .host : .image }
}

extension Problem {
  /// Why a rule refuses an entry.
  package init(_ refusal: Refusal) {
    self.init(Code(rawValue: refusal.reason.rawValue), refusal.message)
  }

  /// Makes what a Hive says of an entry that the rulebook rejects.
  init(_ rejection: Rejection) {
    self.init(Code(rawValue: rejection.reason.rawValue), rejection.message)
  }
}
