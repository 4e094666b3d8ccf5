internal import BeeHiveRouting
internal import Foundation
internal import Harness

/// Reads a table from JSON up to a NUL, then explains URLs by it, a line each.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = unsafe copied(start, min(count, 8192))
  let json = input.prefix { $0 != 0 }
  guard let table = try? JSONDecoder().decode(DecisionTable.self, from: Data(json)) else {
    return 0
  }
  guard let again = try? JSONEncoder().encode(table),
    (try? JSONDecoder().decode(DecisionTable.self, from: again)) == table
  else { preconditionFailure("a table reads back as it was written") }
  let router = Router()
  guard (try? router.calls.load(table)) != nil else {
    precondition(router.calls.table == nil, "what is refused changes nothing")
    return 0
  }
  let urls = String(decoding: input.dropFirst(json.count + 1), as: UTF8.self).split(separator: "\n")
  for url in ["app://a/b?c=d", "/"] + urls.prefix(8).map(String.init) {
    for origin in [CallOrigin.local, .remote] {
      let explanation = router.calls.explain(url, origin: origin)
      precondition(!explanation.end.isEmpty)
    }
  }
  return 0
}
