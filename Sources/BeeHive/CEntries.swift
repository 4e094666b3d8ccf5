public import CBeeHive.Runtime

// What `beehive/runtime.h` tells of the entries.

/// `beehive_entries`.
@implementation @c
public func beehive_entries(
  _ visit: (@convention(c) (UnsafePointer<beehive_entry>?, UnsafeMutableRawPointer?) -> Bool)?,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  var count = 0
  guard let visit = unsafe visit else { return 0 }
  let report = Hive.process.report()
  for (line, place) in zip(report.entries, report.places) {
    count += 1
    let goesOn = unsafe line.withCEntry(at: place) { entry in unsafe visit(entry, context) }
    if !goesOn { break }
  }
  return count
}

/// `beehive_remarks`.
@implementation @c
public func beehive_remarks(
  _ visit: (@convention(c) (UnsafePointer<CChar>?, UnsafeMutableRawPointer?) -> Bool)?,
  _ context: UnsafeMutableRawPointer?
) -> Int {
  var count = 0
  guard let visit = unsafe visit else { return 0 }
  let report = Hive.process.report()
  for remark in report.images + report.order + report.remarks {
    count += 1
    let goesOn = unsafe remark.escaped.withCString { unsafe visit($0, context) }
    if !goesOn { break }
  }
  return count
}

extension Report.Line {
  /// Lends the line as C sees it.
  fileprivate func withCEntry<Result>(
    at place: String, _ body: (UnsafePointer<beehive_entry>) -> Result
  ) -> Result {
    let texts = [kind, name, implementation ?? "", place, reason ?? ""].map(\.utf8CString)
    return unsafe texts[0].withUnsafeBufferPointer { kind in
      unsafe texts[1].withUnsafeBufferPointer { name in
        unsafe texts[2].withUnsafeBufferPointer { implementation in
          unsafe texts[3].withUnsafeBufferPointer { source in
            unsafe texts[4].withUnsafeBufferPointer { reason in
              var entry = unsafe beehive_entry()
              unsafe entry.size = UInt32(MemoryLayout<beehive_entry>.size)
              unsafe entry.state = cState
              unsafe entry.kind = kind.baseAddress
              unsafe entry.name = name.baseAddress
              if self.implementation != nil {
                unsafe entry.implementation = implementation.baseAddress
              }
              unsafe entry.source = source.baseAddress
              if self.reason != nil { unsafe entry.reason = reason.baseAddress }
              return unsafe body(&entry)
            }
          }
        }
      }
    }
  }

  private var cState: UInt32 {
    switch state {
    case "bound": 0
    case "accepted": 1
    case "disabled": 3
    default: 2
    }
  }
}
