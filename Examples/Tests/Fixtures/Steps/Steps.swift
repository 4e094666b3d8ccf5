internal import CTestContracts
internal import Glibc

/// Does what a host was told, one step after another, and prints what came of it.
///
///     SwiftHost open=libplugin.so entries close=libplugin.so entries
///
/// A step that fails prints why and the next one follows: a test compares all that was printed. A
/// host that hangs is ended by an alarm, so a deadlock is a failure and no wait.
public func runSteps(_ words: [String]) -> CInt {
  contract_end_after(600)
  var host = Host()
  for word in words {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let argument = parts.count > 1 ? String(parts[1]) : ""
    guard let step = Host.steps[String(parts[0])] else {
      print("no such step: \(word)")
      return 64
    }
    do { try step(&host, argument) } catch { print("\(parts[0]): \(error)") }
    fflush(nil)
  }
  return 0
}

/// What a host remembers between steps.
struct Host {
  /// What it has opened, latest last.
  var handles: [String: [Handle]] = [:]

  /// One thing a host can do.
  typealias Step = @Sendable (inout Host, String) throws -> Void

  static let steps: [String: Step] = Dictionary(
    uniqueKeysWithValues: loaderSteps + hiveSteps + serviceSteps + crowdSteps + threadSteps
      + runSteps + routingSteps + modelSteps)
}

/// Why a step could not be done.
struct StepFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The last part of a path.
func lastPart(of path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}
