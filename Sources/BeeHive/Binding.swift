internal import BinaryImage
internal import Registration

/// From an accepted entry to what makes it: the record's accessor, else a type of the name, else what the
/// host gave.
///
/// Runs with no lock held: it asks the Swift runtime and the image's own accessor.
struct Binding {
  /// What the host gave for names that no type answers to.
  var hostBindings: [String: FactoryClosure]

  /// Where the host gave nothing.
  static let nothing = Binding(hostBindings: [:])

  /// What becomes of a record of an image whose Swift code, if it has any, is pinned.
  func progress(of record: Record, in image: LoadBias) -> RegisteredEntry.Progress {
    switch record.kind {
    case .module, .service, .target, .route: break
    default:
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
  private func structure(
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

  private func accessorProgress(
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
  func progress(named entry: RegisteredEntry) -> RegisteredEntry.Progress {
    let name = entry.kind == .module ? entry.name : entry.implementation ?? ""
    if let factory = hostBindings[name] { return .bound(.closure(factory)) }
    switch TypeLookup.type(named: TypeName(name)) {
    case .found(let type): return progress(of: entry, as: type, named: name)
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
    of entry: RegisteredEntry, as type: Any.Type, named name: String
  ) -> RegisteredEntry.Progress {
    if entry.kind == .module {
      if let module = type as? any Module.Type { return .bound(.module(module)) }
      return .rejected(Problem(.doesNotConform, "\(name) does not conform to Module"))
    }
    // Where the service's own type is known too, a type that cannot serve as it is refused now.
    var served: ObjectIdentifier?
    switch TypeLookup.type(named: TypeName(entry.name)) {
    case .found(let service):
      served = ObjectIdentifier(service)
      if case .fails(let reason) = Conformance.of(type, to: service) {
        return .rejected(Problem(.doesNotConform, reason + TypeCopies.remark(on: service)))
      }
    case .ambiguous(let names):
      let fitting = Self.services(named: names, of: type)
      guard fitting.count <= 1 else { return .accepted(.ambiguous(names, as: entry.name)) }
      guard let service = fitting.first else {
        return .rejected(
          Problem(
            .doesNotConform, "\(name) conforms to none of \(names.joined(separator: ", "))"))
      }
      served = service
    case .none: break
    }
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

extension Problem {
  /// Why a name finds no type, and what to do.
  fileprivate static func absent(_ absence: TypeLookup.Absence, name: String) -> Problem {
    let remedy = "bind it or link its module"
    let found =
      switch absence {
      case .unknown: "no type of this name yet"
      case .generic(let whole): "\(whole) is generic, and only a factory can choose its arguments"
      case .malformed: "\(name) is not the name of a type"
      case .unqualified: "this Swift runtime lists no types; write the module's name too"
      }
    return Problem(.noSuchType, "\(found); \(remedy)")
  }

  /// That several types have the name that an entry writes.
  fileprivate static func ambiguous(_ names: [String], as name: String) -> Problem {
    Problem(
      .ambiguousType,
      "\(names.joined(separator: " and ")) both answer to \(name); write the module's name too")
  }

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
