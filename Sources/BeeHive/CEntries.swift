package import CBeeHive.Runtime

// What `beehive/runtime.h` tells of the entries.

/// `beehive_entries`.
@implementation @c
package func beehive_entries(
  _ visit: (@convention(c) (UnsafePointer<beehive_entry>?, UnsafeMutableRawPointer?) -> Bool)?,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let visit = unsafe visit else { return 0 }
  return count(Hive.process.report().entries) { line in
    unsafe line.withCEntry { entry in unsafe visit(entry, context) }
  }
}

/// `beehive_remarks`.
@implementation @c
package func beehive_remarks(
  _ visit: (@convention(c) (UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Bool)?,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  guard let visit = unsafe visit else { return 0 }
  let report = Hive.process.report()
  // Once a start has come to them, these are the reasons of entries.
  let order = report.entries.contains { $0.launch != nil } ? [] : report.order
  return count(report.images + order + report.remarks) { remark in
    unsafe remark.escaped.withCString { unsafe visit($0, context) }
  }
}

/// Visits elements until one says that it goes no further; how many were visited.
private func count<Elements: Sequence>(
  _ elements: Elements, _ goesOn: (Elements.Element) -> Bool
) -> Int {
  var count = 0
  for element in elements {
    count += 1
    if !goesOn(element) { break }
  }
  return count
}

extension Report.Line {
  /// Lends the line as C sees it.
  fileprivate func withCEntry<Result>(
    _ body: (UnsafePointer<beehive_entry>) -> Result
  ) -> Result {
    let texts = CTexts()
    var entry = unsafe beehive_entry()
    unsafe entry.size = UInt32(MemoryLayout<beehive_entry>.size)
    unsafe entry.state = cState
    unsafe entry.kind = texts.copy(kind)
    unsafe entry.name = texts.copy(name)
    unsafe entry.implementation = implementation.map { unsafe texts.copy($0) }
    unsafe entry.source = texts.copy(place)
    unsafe entry.reason = reason.map { unsafe texts.copy($0) }
    unsafe entry.number = number
    return withExtendedLifetime(texts) { unsafe body(&entry) }
  }

  /// Two for what is rejected.
  private var cState: UInt32 { ["bound": 0, "accepted": 1, "disabled": 3][state] ?? 2 }
}
