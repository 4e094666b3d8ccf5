internal import Registration
internal import SwiftContracts

/// The Swift types that the files of one platform have.
struct KnownTypes {
  private var types = DeclaredTypes()
  private var protocols = DeclaredTypes()
  private var conformances = DeclaredConformances()
  /// The first file whose types cannot be read.
  private var unread: String?

  mutating func add(_ image: FileSetImage) {
    types.add(image.types)
    protocols.add(image.protocols)
    conformances.add(image.conformances)
    if image.types.isIncomplete { unread = unread ?? image.place.file }
  }

  /// Returns the findings on an entry whose Swift type a Hive could not make or find.
  func findings(on entry: FileSet.Declared) -> [Finding] {
    guard let type = entry.record.neededType else { return [] }
    guard types.has(type) else {
      return [
        lacking(
          type, among: types, .missingImplementation, entry, "needs the Swift type", fix: "bind it")
      ]
    }
    let isModule = entry.record.kind == .module
    let base = isModule ? "BeeHive.Module" : "BeeHive.Injectable"
    var findings: [Finding] = []
    func check(_ base: String, _ code: Finding.Code, _ effect: String) {
      guard conformances.conforms(type, to: base, among: types) == false else { return }
      findings.append(
        Finding(
          code, .warning, entry.place,
          "\(entry.record.title)\(isModule ? "" : " names \(type), which") does not conform to \(base)"
            + effect, remedy: .conform))
    }
    check(
      base, isModule ? .doesNotConform : .noInitializer,
      isModule ? ", so no Hive can start it" : ", so no Hive knows how to make one")
    guard !isModule else { return findings }
    for part in TypeName(entry.record.name).composed.map(\.text) where !types.has(part) {
      if protocols.has(part) || conformances.hasConformance(to: part) {
        check(part, .doesNotConform, "")
      } else {
        findings.append(
          lacking(
            part, among: protocols, .missingProtocol, entry, "is for the protocol",
            fix: "register it"))
      }
    }
    return findings
  }

  /// Returns a finding on a name that no file has. It is a remark if an unreadable file may have the name.
  private func lacking(
    _ name: String, among types: DeclaredTypes, _ code: Finding.Code, _ entry: FileSet.Declared,
    _ need: String, fix: String
  ) -> Finding {
    let message = "\(entry.record.title) \(need) \(name), which no file has"
    if types.hides(name) {
      return Finding(
        code, .warning, entry.place, "\(message) except as a private or local one",
        remedy: .publish(orBy: fix))
    }
    guard let unread else {
      return Finding(
        code, .warning, entry.place, message,
        remedy: .addType(orBy: fix))
    }
    return Finding(
      code, .remark, entry.place, "\(message); the types of \(unread) cannot be read",
      remedy: .nameLibrary)
  }
}
