import Foundation
import PackagePlugin

// Runs programs and reports failures for all commands. Each command has a link to this file, because the plugins of a
// package share no code.

/// Prints an error and ends the command.
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
