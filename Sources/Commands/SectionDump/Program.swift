import Foundation
import PackagePlugin

// How each command runs programs, and how it fails. A file of its own, to which each has a link: plugins of a
// package share no code.

/// Ends a command that has failed, and says why.
func fail(_ message: String) -> Never {
  Diagnostics.error(message)
  exit(1)
}

/// Runs a program to its end and returns its status.
func run(
  _ program: URL, _ arguments: [String], environment: [String: String]? = nil
) throws -> Int32 {
  let process = Process()
  process.executableURL = program
  process.arguments = arguments
  if let environment { process.environment = environment }
  try process.run()
  process.waitUntilExit()
  return process.terminationStatus
}
