import Foundation
import TestSupport
import Testing

@Suite("The walks of CONTRIBUTING.md")
struct WalksTests {
  @Test("lead through functions that are there, at most fifteen each")
  func hops() throws {
    let text = try Repository.text("CONTRIBUTING.md")
    let walks = text.components(afterHeading: "## Four walks", separatedBy: "### ")
    #expect(walks.count == 4)
    for walk in walks {
      let hops = walk.matches(of: #/(?m)^\d+\. `(\w+)` in `([^`]+)` /#)
      #expect((5...15).contains(hops.count))
      #expect(hops.count == walk.matches(of: #/(?m)^\d+\. /#).count, "a hop is written otherwise")
      for hop in hops {
        let (name, file) = (hop.output.1, hop.output.2)
        let isC = file.hasSuffix(".c")
        let source = try Repository.text(isC ? String(file) : "Sources/\(file)")
        let pattern = isC || name == "init" ? "\(name)(" : "func \(name)"
        #expect(source.contains(pattern), "\(name) is not in \(file)")
      }
    }
  }
}

extension String {
  /// The parts behind a heading, without what is before the first separator.
  fileprivate func components(afterHeading heading: String, separatedBy separator: String)
    -> [String]
  {
    guard let start = range(of: heading) else { return [] }
    return Array(self[start.upperBound...].components(separatedBy: separator).dropFirst())
  }
}
