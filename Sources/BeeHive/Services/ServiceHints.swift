internal import Registration
internal import Threads

// Why a service cannot be had, in words that say what is there instead.
extension Hive {
  /// `; did you mean Greeter?`: services whose names are nearly this one.
  func servicesLike(_ name: String) -> String {
    let names = state.withLock { $0.table.serviceNames }
    return near(name, in: names)
  }

  /// The same of the names that tell the implementations of one service apart.
  func givenNamesLike(_ name: String, of type: TypeSpelling) -> String {
    let names = services(named: type.all).entries.compactMap(\.attributes.name)
    return near(name, in: names)
  }

  /// Why no C library provides a service: what is registered under its name, if anything is.
  func cFailure(_ service: String, name: String?) -> ServiceError {
    let entries = services(named: [service]).entries
    let spelling = service + (name.map { " named \($0)" } ?? "")
    guard !entries.isEmpty else {
      var error = ServiceError(
        .notFound, service: spelling,
        message: "no C library that is loaded provides it; link or dlopen the one that does")
      error.hint = { self.servicesLike(service) }
      return error
    }
    let sources = entries.map(\.source)
    let reasons = zip(Source.told(apart: sources), entries).map { source, entry in
      "\(source): \(cRefusal(by: entry, name: name))"
    }
    var error = ServiceError(
      .unusable, service: spelling, message: reasons.joined(separator: "; "), sources: sources)
    let names = entries.compactMap(\.attributes.name)
    error.hint = { name.map { near($0, in: names) } ?? "" }
    return error
  }

  private func cRefusal(by entry: RegisteredEntry, name: String?) -> String {
    switch boundProgress(of: entry) {
    case .rejected(let problem): return "rejected, since \(problem)"
    case .accepted(let problem): return problem.message
    case .bound(.structure):
      return name == nil ? "its library is gone" : entry.nameRemark
    case .bound: return "it is written in Swift; look it up by type"
    }
  }
}

extension RegisteredEntry {
  /// Why it does not answer to another given name.
  var nameRemark: String { attributes.name.map { "is named \($0)" } ?? "has no name" }
}
