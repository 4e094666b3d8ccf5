/// Every comparison by name. Each needs a process of its own, because loaded libraries stay loaded.
public enum Workloads {
  /// The names, in the order of the table.
  public static let names = all.map(\.name)

  /// Sets one comparison up, with the libraries in `fixtures`.
  public static func make(_ name: String, fixtures: Fixtures) -> Comparison? {
    all.first { $0.name == name }?.make(fixtures)
  }

  private struct Recipe: Sendable {
    let name: String
    let make: @Sendable (Fixtures) -> Comparison
  }

  private static let all: [Recipe] = [
    Recipe(name: "walk-notes-200") { Walks.notes(200, $0) },
    Recipe(name: "walk-notes-1000") { Walks.notes(1000, $0) },
    Recipe(name: "walk-files-200") { Walks.files(200, $0) },
    Recipe(name: "walk-files-1000") { Walks.files(1000, $0) },
    Recipe(name: "find-sections") { Walks.finding(200, $0) },
    Recipe(name: "catalogue-1000") { Cataloguing.plugins($0) },
    Recipe(name: "nothing-changed") { Walks.nothingChanged($0) },
    Recipe(name: "resolve-class") { _ in Resolving.classBound() },
    Recipe(name: "resolve-process") { _ in Resolving.throughProcess() },
    Recipe(name: "resolve-opaque") { _ in Resolving.opaque() },
    Recipe(name: "resolve-borrowing") { _ in Resolving.borrowing() },
    Recipe(name: "resolve-two-threads") { _ in Resolving.twoThreads() },
    Recipe(name: "read-10000") { Registering.reading($0) },
    Recipe(name: "scan-10000") { Registering.scanning($0) },
    Recipe(name: "load-and-read-10000") { Registering.loadingAndReading($0) },
    Recipe(name: "register-modules") { Registering.whole("modules", $0) },
    Recipe(name: "register-services") { Registering.whole("services", $0) },
    Recipe(name: "register-records") { Registering.whole("records", $0) },
    Recipe(name: "start-program") { Starting.program($0) },
    Recipe(name: "start-listing") { Starting.listing($0) },
    Recipe(name: "arrival-beside-100") { Arriving.beside(100, $0) },
    Recipe(name: "arrival-beside-100000") { Arriving.beside(100_000, $0) },
    Recipe(name: "arrival-among-100") { Arriving.among(100, $0) },
    Recipe(name: "arrival-among-1000") { Arriving.among(1000, $0) },
    Recipe(name: "register-names-1000") { _ in Naming.registering(1000) },
    Recipe(name: "register-names-10000") { _ in Naming.registering(10_000) },
    Recipe(name: "find-name-10") { _ in Naming.finding(among: 10) },
    Recipe(name: "find-name-10000") { _ in Naming.finding(among: 10_000) },
    Recipe(name: "find-nothing") { _ in Naming.missing() },
    Recipe(name: "match-100") { _ in Matching.few() },
    Recipe(name: "match-100000") { _ in Matching.many() },
    Recipe(name: "register-routes-1000") { _ in Deciding.registering(1000) },
    Recipe(name: "register-routes-10000") { _ in Deciding.registering(10_000) },
    Recipe(name: "load-rules-10000") { _ in Deciding.loading(10_000) },
    Recipe(name: "load-rules-100000") { _ in Deciding.loading(100_000) },
    Recipe(name: "pass-rules-0") { _ in Deciding.passing(0) },
    Recipe(name: "pass-rules-10") { _ in Deciding.passing(10) },
    Recipe(name: "pass-rules-10000") { _ in Deciding.passing(10_000) },
  ]
}
