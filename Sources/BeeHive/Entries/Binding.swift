internal import BinaryImage
internal import Registration

extension RegisteredEntry {
  /// Makes entries of all records of an image, except those of third parties and the identity of a plugin.
  static func all(of scan: Scan, in image: LoadedImage) -> [RegisteredEntry] {
    var entries: [RegisteredEntry] = []
    entries.reserveCapacity(scan.records.count + scan.rejections.count)
    var sharers: [String: RegisteredEntry] = [:]
    let (id, bias) = (image.mapped.id, image.mapped.bias)
    for record in scan.records where record.kind.isRegistered {
      // Before the record goes into its entry, which would have to copy it otherwise.
      let instance = record.sharedInstance
      let entry = RegisteredEntry(record, of: id, bias)
      entries.append(entry)
      guard let instance else { continue }
      entry.firstSharer = sharers[instance]
      sharers[instance] = entry.keeper
    }
    for rejection in scan.rejections { entries.append(RegisteredEntry(rejection, in: image)) }
    return entries
  }

  /// Makes the entry of a record, bound if the record itself says what makes it.
  private convenience init(_ record: Record, of image: MappedImage.ID, _ bias: LoadBias) {
    self.init(
      kind: record.kind, name: record.name, implementation: record.implementation,
      attributes: record.attributes, source: .image(record.origin), image: image,
      bias: bias, progress: .of(record, in: bias))
  }
}

// From an accepted entry to what makes it: the record's accessor, else what the host gave, else a type of the name.
// Runs with no lock held: it asks the Swift runtime and the image's own accessor.
extension RegisteredEntry.Progress {
  /// Returns the progress of a record of an image whose Swift code, if it has any, is pinned.
  fileprivate static func of(_ record: Record, in image: LoadBias) -> Self {
    guard record.kind.isKnown else {
      return .accepted(
        Problem(
          .unhandledKind,
          "nothing in this process registers the kind \(record.kind); link the module that does"))
    }
    let context = record.context?.runtimeAddress(in: image)
    if let abi = record.attributes.abi {
      if let structure = CStructure(rawValue: abi), structure.kind == record.kind, let context {
        return .bound(.structure(structure, context))
      }
      return .accepted(
        Problem(
          .unknownABI,
          "abi=\(abi) of a \(record.kind) is unknown here; use a newer BeeHive, or bind it by code")
      )
    }
    if let function = record.accessor?.runtimeAddress(in: image) {
      return of(record, by: Accessor(function: function, context: context))
    }
    if record.kind == .target || record.kind == .route {
      return .accepted(
        Problem(
          .unhandledKind,
          "the record of this \(record.kind) leads to no code; write it with the macros, or register "
            + "it by code"))
    }
    return .accepted(.notYetLooked)
  }

  private static func of(_ record: Record, by accessor: Accessor) -> Self {
    let function = UInt64(accessor.function.rawValue)
    guard ForeignMemory.image.holdsCode(function) else {
      return .rejected(Problem(.noCode("its accessor", at: function)))
    }
    var accessor = accessor
    if let type = accessor.describe() {
      accessor.service = ObjectIdentifier(type)
      accessor.hasOtherName =
        record.kind == .service && !TypeSpelling.of(type).all.contains(record.name)
    }
    return .bound(.accessor(accessor))
  }

  /// Returns the progress of an entry that names a type, with the images that are loaded now.
  ///
  /// - Parameters:
  ///   - entry: An entry that nothing makes yet.
  ///   - hostBindings: The host's factories, by name. They come before types of the name.
  ///   - asked: The type that somebody asks for by the entry's name.
  /// - Returns: Its progress, accepted if another image may still bring what it names.
  static func of(
    _ entry: RegisteredEntry, _ hostBindings: [String: FactoryClosure], asked: Any.Type?
  ) -> Self {
    let name = entry.kind == .module ? entry.name : entry.implementation ?? ""
    if let factory = hostBindings[name] {
      guard entry.kind == .service else { return .bound(.closure(factory)) }
      return of(entry, by: factory.serviceType, asked, isMade: true) { served in
        var factory = factory
        factory.serving = served
        return .bound(.closure(factory))
      }
    }
    switch TypeLookup.type(named: TypeName(name), by: entry.bias) {
    case .found(let type): return of(entry, as: type, named: name, asked)
    case .ambiguous(let names): return .accepted(.ambiguous(names, as: name))
    case .unknown: return .accepted(.notYetLooked)
    case .generic(let whole):
      return .accepted(.noType("\(whole) is generic, and only a factory can choose its arguments"))
    case .malformed: return .accepted(.noType("\(name) is not the name of a type"))
    }
  }

  private static func of(
    _ entry: RegisteredEntry, as type: Any.Type, named name: String, _ asked: Any.Type?
  ) -> Self {
    if entry.kind == .module {
      if let module = type as? any Module.Type {
        return .bound(.closure(FactoryClosure { _ in module.init() }))
      }
      return .rejected(Problem(.doesNotConform, "\(name) does not conform to Module"))
    }
    return of(entry, by: type, asked) { served in
      if let type = type as? any Injectable.Type {
        return .bound(.closure(FactoryClosure(type, serving: served)))
      }
      return .rejected(
        Problem(
          .noInitializer,
          "\(name) does not conform to Injectable, so nothing knows how to make one; conform it, "
            + "or bind the name"))
    }
  }

  /// Returns the progress of a service whose implementation is known.
  ///
  /// - Parameters:
  ///   - entry: The entry.
  ///   - type: The type of its implementation.
  ///   - asked: The type that somebody asks for by the entry's name.
  ///   - isMade: Whether the host makes values of `type`. Then `type` may be the service itself, and the host may give
  ///     another factory for the name later.
  ///   - serving: Called if `type` can serve, with the type of the service; nil for a composition.
  /// - Returns: Its progress.
  private static func of(
    _ entry: RegisteredEntry, by type: Any.Type, _ asked: Any.Type?, isMade: Bool = false,
    serving: (ObjectIdentifier?) -> Self
  ) -> Self {
    func check(_ services: [Any.Type], isFinal: Bool = true) -> Self {
      for service in services where !isMade || type != service {
        guard case .fails(let reason) = Conformance.of(type, to: service) else { continue }
        let remark = TypeLookup.remark(onCopiesOf: service)
        let problem = Problem(.doesNotConform, reason + remark)
        return isFinal && !isMade ? .rejected(problem) : .accepted(problem)
      }
      return serving(services.count == 1 ? ObjectIdentifier(services[0]) : nil)
    }
    let name = TypeName(entry.name)
    // The host's factory says itself what it serves as.
    if isMade, TypeSpelling.of(type).all.contains(name.text) { return check([type]) }
    switch TypeLookup.type(named: name) {
    case .found(let service): return check([service])
    case .ambiguous(let names):
      let fitting = names.compactMap { name -> ObjectIdentifier? in
        guard case .found(let service) = TypeLookup.type(named: TypeName(name)),
          Conformance.of(type, to: service) == .holds
        else { return nil }
        return ObjectIdentifier(service)
      }
      if fitting.count == 1 { return serving(fitting[0]) }
      if fitting.count > 1 { return .accepted(.ambiguous(names, as: entry.name)) }
      let problem = Problem(
        .doesNotConform,
        "\(TypeSpelling.of(type).qualified) conforms to none of \(names.joined(separator: ", "))")
      return isMade ? .accepted(problem) : .rejected(problem)
    case .unknown, .generic, .malformed:
      if let parts = TypeLookup.parts(ofComposition: name) { return check(parts) }
      // A private type has no name outside its file, but a caller that asks for it has the type.
      if let asked { return check([asked], isFinal: false) }
      return .accepted(.noSuchService)
    }
  }
}

extension RegisteredEntry {
  /// Returns the name of the type that a module or service waits for, and a check of types that could serve.
  static func missingType(
    _ kind: String, _ name: String, _ implementation: String?
  ) -> (name: TypeName, canServe: (any Any.Type) -> Bool) {
    if kind == "module" { return (TypeName(name), { $0 is any Module.Type }) }
    let (service, made) = (TypeName(name), TypeName(implementation ?? ""))
    if case .found(let type) = TypeLookup.type(named: made) {
      return (service, { Conformance.of(type, to: $0) == .holds })
    }
    guard case .found(let service) = TypeLookup.type(named: service) else {
      return (made, { $0 is any Injectable.Type })
    }
    return (made, { $0 is any Injectable.Type && Conformance.of($0, to: service) == .holds })
  }
}

extension Provider {
  /// The loader's names of the images that it leads into: with its structure, its table and its functions.
  ///
  /// Call it with no lock held.
  var images: [String] {
    let addresses: [RuntimeAddress] =
      switch self {
      case .accessor(let accessor): [accessor.function, accessor.context].compactMap(\.self)
      case .structure(let structure, let address):
        structure.words(at: UInt64(address.rawValue), in: ForeignMemory.image)
          .map { RuntimeAddress(rawValue: UInt($0)) }
      case .closure: []
      }
    return addresses.compactMap(\.imagePath)
  }
}

extension Problem {
  /// Returns the problem that a name finds no type, with the remedy.
  fileprivate static func noType(_ reason: String) -> Problem {
    Problem(.noSuchType, "\(reason); bind it or link its module")
  }

  /// The problem of an entry between registration and the first look for its type.
  static let notYetLooked = noType("no type of this name yet")

  /// Returns the problem that several types have the name that an entry writes.
  fileprivate static func ambiguous(_ names: [String], as name: String) -> Problem {
    Problem(
      .ambiguousType,
      "\(names.joined(separator: " and ")) both answer to \(name); write the module's name too")
  }

  /// The problem of a service whose name is not the name of a type, so that no lookup finds it.
  fileprivate static let noSuchService = Problem(
    .noSuchType,
    "no type of the service's name yet; link its module, or write the type itself where this is an alias"
  )
}

extension PointerValue {
  /// Returns the address in this process, for a pointer that was read from a loaded image.
  func runtimeAddress(in image: LoadBias) -> RuntimeAddress? {
    switch target {
    case .null, .imported, .section, .unresolvable: nil
    case .address(let address): image.runtimeAddress(of: address)
    case .foreign(let address): address
    }
  }
}
