internal import BinaryImage
internal import Registration

/// From an accepted entry to what makes it: the record's accessor, else a type of the name, else what the
/// host gave.
///
/// Runs with no lock held: it asks the Swift runtime and the image's own accessor.
struct Binding {
  /// What the host gave for names that no type answers to.
  var hostBindings: [String: FactoryClosure]

  /// Makes entries of all that an image declares, except for what third parties do.
  static func entries(of scan: Scan, in image: LoadedImage) -> [RegisteredEntry] {
    var entries: [RegisteredEntry] = []
    entries.reserveCapacity(scan.records.count + scan.rejections.count)
    for record in scan.records where !record.kind.isThirdParty {
      entries.append(
        RegisteredEntry(
          kind: record.kind, name: record.name, implementation: record.implementation,
          attributes: record.attributes, source: .image(record.origin), image: image.mapped.id,
          progress: progress(of: record, in: image.mapped.bias)))
    }
    for rejection in scan.rejections { entries.append(RegisteredEntry(rejection, in: image)) }
    return entries
  }

  /// What becomes of a record of an image whose Swift code, if it has any, is pinned.
  private static func progress(
    of record: Record, in image: LoadBias
  ) -> RegisteredEntry.Progress {
    guard record.kind.isKnown else {
      return .accepted(
        Problem(
          .unhandledKind,
          "nothing in this process registers the kind \(record.kind); link the module that does"))
    }
    if let abi = record.attributes.abi { return structure(of: record, abi: abi, in: image) }
    if let accessor = record.accessor, let function = accessor.runtimeAddress(in: image) {
      return accessorProgress(
        Accessor(function: function, context: record.context?.runtimeAddress(in: image)),
        of: record)
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

  /// A record that a C author wrote, whose structure was found to be one.
  private static func structure(
    of record: Record, abi: String, in image: LoadBias
  ) -> RegisteredEntry.Progress {
    guard let structure = CStructure(rawValue: abi), structure.kind == record.kind,
      let address = record.context?.runtimeAddress(in: image)
    else {
      return .accepted(
        Problem(
          .unknownABI,
          "abi=\(abi) of a \(record.kind) is unknown here; use a newer BeeHive, or bind it by code")
      )
    }
    return .bound(.structure(structure, address))
  }

  private static func accessorProgress(
    _ accessor: Accessor, of record: Record
  ) -> RegisteredEntry.Progress {
    let function = UInt64(accessor.function.rawValue)
    guard ForeignMemory.image.holdsCode(function) else {
      return .rejected(Problem(.noCode("its accessor", at: function)))
    }
    var accessor = accessor
    if let type = ForeignCall.describe(accessor) {
      accessor.service = ObjectIdentifier(type)
      accessor.hasOtherName =
        record.kind == .service && !TypeSpelling.of(type).all.contains(record.name)
    }
    return .bound(.accessor(accessor))
  }

  /// What becomes of an entry that names a type, now that these images are loaded.
  ///
  /// - Parameters:
  ///   - entry: An entry that nothing makes yet.
  ///   - asked: The type that somebody asks for by the entry's name.
  /// - Returns: Its progress, accepted where another image may still bring what it names.
  func progress(
    named entry: RegisteredEntry, asked: Any.Type? = nil
  ) -> RegisteredEntry.Progress {
    let name = entry.kind == .module ? entry.name : entry.implementation ?? ""
    if let factory = hostBindings[name] { return progress(of: entry, by: factory, asked) }
    switch TypeLookup.type(named: TypeName(name)) {
    case .found(let type): return progress(of: entry, as: type, named: name, asked)
    case .ambiguous(let names):
      return .accepted(.ambiguous(names, as: name))
    case .none(let absence): return .accepted(.absent(absence, name: name))
    }
  }

  /// Which of several services an implementation conforms to.
  private static func services(named names: [String], of type: Any.Type) -> [ObjectIdentifier] {
    names.compactMap { name in
      guard case .found(let service) = TypeLookup.type(named: TypeName(name)),
        Conformance.of(type, to: service) == .holds
      else { return nil }
      return ObjectIdentifier(service)
    }
  }

  private func progress(
    of entry: RegisteredEntry, by factory: FactoryClosure, _ asked: Any.Type?
  ) -> RegisteredEntry.Progress {
    let type = factory.serviceType()
    guard entry.kind == .service else { return .bound(.closure(factory)) }
    switch Self.served(entry, by: type, asked, isMade: true) {
    case .serves(let served):
      var factory = factory
      factory.serving = served
      return .bound(.closure(factory))
    // What the host gives for the name may change.
    case .unfit(let problem, _): return .accepted(problem)
    }
  }

  private func progress(
    of entry: RegisteredEntry, as type: Any.Type, named name: String, _ asked: Any.Type?
  ) -> RegisteredEntry.Progress {
    if entry.kind == .module {
      if let module = type as? any Module.Type { return .bound(.module(module)) }
      return .rejected(Problem(.doesNotConform, "\(name) does not conform to Module"))
    }
    switch Self.served(entry, by: type, asked) {
    case .unfit(let problem, let isFinal): return isFinal ? .rejected(problem) : .accepted(problem)
    case .serves(let served):
      guard let injectable = type as? any Injectable.Type else {
        return .rejected(
          Problem(
            .noInitializer,
            "\(name) does not conform to Injectable, so nothing knows how to make one; conform it, "
              + "or bind the name"))
      }
      return .bound(.injectable(injectable, serving: served))
    }
  }

  /// Whether a type can serve as an entry's service.
  private enum Fitness {
    /// It can, as this type; nil of a composition.
    case serves(ObjectIdentifier?)
    /// It cannot: for good, or until other types are loaded.
    case unfit(Problem, isFinal: Bool)
  }

  /// Finds the type that an entry's service is, and whether `type` can serve as it.
  ///
  /// - Parameters:
  ///   - entry: The entry of a service.
  ///   - type: What its implementation names.
  ///   - asked: The type that somebody asks for by the entry's name.
  ///   - isMade: Whether values of `type` are made by the host, so that it may be the service itself.
  /// - Returns: Whether it can, and as what.
  private static func served(
    _ entry: RegisteredEntry, by type: Any.Type, _ asked: Any.Type?, isMade: Bool = false
  ) -> Fitness {
    func check(_ services: [Any.Type], isFinal: Bool = true) -> Fitness {
      for service in services where !isMade || type != service {
        guard case .fails(let reason) = Conformance.of(type, to: service) else { continue }
        let problem = Problem(.doesNotConform, reason + TypeCopies.remark(on: service))
        return .unfit(problem, isFinal: isFinal)
      }
      return .serves(services.count == 1 ? ObjectIdentifier(services[0]) : nil)
    }
    let name = TypeName(entry.name)
    // What the host makes says itself what it serves as.
    if isMade, TypeSpelling.of(type).all.contains(name.text) { return check([type]) }
    switch TypeLookup.type(named: name) {
    case .found(let service): return check([service])
    case .ambiguous(let names):
      let fitting = services(named: names, of: type)
      if fitting.count == 1 { return .serves(fitting[0]) }
      let problem =
        fitting.count > 1
        ? Problem.ambiguous(names, as: entry.name)
        : Problem(
          .doesNotConform,
          "\(TypeSpelling.of(type).qualified) conforms to none of \(names.joined(separator: ", "))")
      return .unfit(problem, isFinal: fitting.isEmpty)
    case .none:
      if let parts = TypeLookup.parts(ofComposition: name) { return check(parts) }
      // A private type has no name outside its file, but a caller that asks for it has the type.
      if let asked { return check([asked], isFinal: false) }
      return .unfit(.noSuchService, isFinal: false)
    }
  }
}

extension Problem {
  /// Why a name finds no type, and what to do.
  fileprivate static func absent(_ absence: TypeLookup.Absence, name: String) -> Problem {
    let remedy = "bind it or link its module"
    let found =
      switch absence {
      case .unknown: "no type of this name yet"
      case .generic(let whole): "\(whole) is generic, and only a factory can choose its arguments"
      case .malformed: "\(name) is not the name of a type"
      }
    return Problem(.noSuchType, "\(found); \(remedy)")
  }

  /// That several types have the name that an entry writes.
  fileprivate static func ambiguous(_ names: [String], as name: String) -> Problem {
    Problem(
      .ambiguousType,
      "\(names.joined(separator: " and ")) both answer to \(name); write the module's name too")
  }

  /// That a service's name is that of no type, so that no lookup finds it.
  fileprivate static let noSuchService = Problem(
    .noSuchType,
    "no type of the service's name yet; link its module, or write the type itself where this is an alias"
  )

  /// The state of an entry between registration and the first look for its type.
  static let notYetLooked = Problem(
    .noSuchType, "no type of this name yet; bind it or link its module")
}

extension PointerValue {
  /// The address in this process, for a pointer that was read from a loaded image.
  func runtimeAddress(in image: LoadBias) -> RuntimeAddress? {
    switch target {
    case .null, .imported, .section, .unresolvable: nil
    case .address(let address): image.runtimeAddress(of: address)
    case .foreign(let address): address
    }
  }
}
