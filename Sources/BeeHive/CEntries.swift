public import CBeeHive.Runtime

// What `beehive/runtime.h` tells of the entries.

/// `beehive_entries`.
@implementation @c
public func beehive_entries(
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
public func beehive_remarks(
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
    return withExtendedLifetime(texts) { unsafe body(&entry) }
  }

  /// Two for what is rejected.
  private var cState: UInt32 { ["bound": 0, "accepted": 1, "disabled": 3][state] ?? 2 }
}

/// Texts as C reads them, which stay where they are until this goes.
@safe package final class CTexts {
  // Sound: each buffer is allocated here, and freed when nothing leads to it any more.
  private var buffers: [UnsafeMutablePointer<CChar>]

  /// Holds no text.
  package init() { unsafe buffers = [] }

  deinit { for index in unsafe buffers.indices { unsafe buffers[index].deallocate() } }

  /// Copies a text.
  package func copy(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    unsafe buffer.initialize(from: bytes, count: bytes.count)
    unsafe buffers.append(buffer)
    return unsafe UnsafePointer(buffer)
  }
}
