internal import BeeHiveRouting
internal import Harness

/// Lines of text: patterns up to an empty line, then URLs.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = unsafe copied(start, min(count, 4096))
  let lines = String(decoding: input, as: UTF8.self)
    .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  let patterns = lines.prefix { !$0.isEmpty }.prefix(32)
  let router = Router()
  for text in patterns {
    guard (try? router.register(text, { _ in })) != nil else { continue }
    precondition(router.deregister(text), "what was registered can be taken out")
    precondition(
      (try? router.register(text, { _ in })) != nil, "what was taken out can be registered again")
    check(text, in: router)
  }
  for url in lines.dropFirst(patterns.count).prefix(32) {
    guard let parsed = try? URLText(url) else {
      precondition(router.route(for: url) == nil)
      continue
    }
    precondition(parsed.path.allSatisfy { !$0.isEmpty && $0 != "." && $0 != ".." })
    let found = router.route(for: url)
    precondition(found != nil || !router.canOpen(url), "what can be opened meets a route")
  }
  router.deregisterAll()
  precondition(router.routes.isEmpty)
  return 0
}

/// Checks that the router finds a route for a URL that a pattern makes.
private func check(_ text: String, in router: Router) {
  guard let pattern = try? RoutePattern(text) else { return }
  let names = pattern.names + pattern.keys.map(\.name)
  let values = Dictionary(names.map { ($0, "7") }, uniquingKeysWith: { first, _ in first })
  guard let url = try? pattern.url(with: values) else { return }
  let isShort = url.utf8.count <= URLLimits().bytes
  precondition(!isShort || router.route(for: url) != nil, "\(text) does not match its own \(url)")
}
