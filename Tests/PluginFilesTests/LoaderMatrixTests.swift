import BinaryImage
import Foundation
import TestSupport
import Testing

@testable import PluginFiles

/// Compares the verdicts on this machine's libraries with those of `dlopen`, also if they are no plugins.
///
/// `BEEHIVE_LIBRARIES` names another folder, for example of unpacked packages.
@Suite("A library of the system")
struct LoaderMatrixTests {
  /// The libraries of each host, a program that opens its arguments.
  static let hosts = [
    [], ["-l:libstdc++.so.6", "-l:libm.so.6"], ["-l:libelf.so.1", "-l:libz.so.1"],
  ]

  private static let folder =
    ProcessInfo.processInfo.environment["BEEHIVE_LIBRARIES"] ?? "/usr/lib"

  @Test("loads where admission says so, and nowhere else", arguments: hosts)
  func agreement(libraries: [String]) throws {
    let folder = try AdmissionFolder()
    try Compiler.compile(
      Repository.fixture("Libraries/opens.c"), as: "host", in: folder.folder.url,
      ["-Wl,--no-as-needed"] + libraries)
    let path = folder.folder.place("host").path
    let host = try AdmissionHost(executable: path, libraryPath: nil)
    var policy = PluginPolicy()
    (policy.checksOwners, policy.checksSearchPaths) = (false, false)
    let admission = Admission(to: host, under: policy)
    var count = 0
    for library in LoaderOracleTests.some(
      Effort.times(22, full: 100_000), below: Self.folder, mayBeShut: true,
      LoaderOracleTests.isLibrary)
    {
      var judged = Admission.Judged(path: library, host: host, policy: policy, otherPaths: [])
      do throws(ImageError) {
        try admission.check(Library(of: OpenedFile(path: library, wasMapped: true)), &judged)
      } catch {
        judged.refusals.append(PluginRefusal(error))
      }
      let outcome = try Command.run(path, [library], environment: ["LC_ALL": "C"])
      let isOpened = outcome.output.hasSuffix("true\n")
      count += 1
      guard judged.refusals.isEmpty != isOpened else { continue }
      // Only the loader knows the room that is left. A remark says so.
      let isTold = judged.remarks.contains { $0.contains("dlopen") }
      #expect(isTold, "\(library): \(judged.refusals), \(outcome)")
    }
    #expect(count > 20, "\(count) libraries are too few")
  }
}
