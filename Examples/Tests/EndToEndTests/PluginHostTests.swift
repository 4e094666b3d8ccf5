import Foundation
import Testing

/// The fifteen plugins of Examples/Plugins/make: the doctor's report on them, and the plugins that a host loads.
@Suite struct PluginHostTests {
  private static let folder = Result {
    let folder = try Folder()
    try Command.output(
      Repository.place("Examples/Plugins/make").path,
      [folder.place("plugins").path, Repository.products.path])
    return folder
  }

  private static let host = Repository.products.appendingPathComponent("PluginHost").path

  /// Returns the words of a report as on the page's machine: lines end elsewhere if paths are longer.
  private static func words(of text: String) throws -> [Substring] {
    var text = text.replacing(#/Host: .*/#, with: "Host: PluginHost")
      .replacing(try folder.get().place("plugins").path, with: "plugins")
    #if arch(arm64)
      text = text.replacing("aarch64", with: "OTHER").replacing("x86_64", with: "aarch64")
        .replacing("OTHER", with: "x86_64")
    #endif
    return text.split(whereSeparator: \.isWhitespace)
  }

  /// Expects that the page shows what is printed.
  private func expectShown(_ text: String) throws {
    let page = try Repository.text("Docs/plugins.md")
    let start = try #require(page.range(of: "```\nHost: PluginHost\n")).lowerBound
    let shown = page[start...].dropFirst(4)
    let end = try #require(shown.range(of: "\n```")).lowerBound
    #expect(try Self.words(of: text) == Self.words(of: String(shown[..<end])), "\(text)")
  }

  @Test("The doctor explains each of the fifteen")
  func doctor() throws {
    let folder = try Self.folder.get()
    let outcome = try Command.run(
      Repository.sectionDump,
      ["doctor", folder.place("plugins").path, "--host", Self.host, "--startup", "anchor"])
    #expect(outcome.status == 1, "\(outcome)")
    try expectShown(outcome.output)
  }

  @Test("The host's own report is the same")
  func report() throws {
    let outcome = try Command.run(
      Self.host, ["--report", Self.folder.get().place("plugins").path])
    #expect(outcome.status == 0, "\(outcome)")
    try expectShown(outcome.output)
  }

  @Test("The host loads the five good ones, providers first, and no other runs anything")
  func loads() throws {
    let outcome = try Command.run(Self.host, [Self.folder.get().place("plugins").path])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      outcome.lines == [
        "loaded libopening.so", "loaded libtill.so", "loaded libcounter-2.so",
        "loaded libreceipts.so", "loaded libledger.so", "the door is open",
        "receipts are printed: tea 420 ct", "Ada is in the ledger", "the coins are counted",
        "the stock is counted, by counter 2.0.0",
        "started: opening, receipts, ledger, till, counter",
      ], "\(outcome)")
  }

  @Test(
    "Under the strict policy it loads those whose contracts can be seen, through the files that were judged"
  )
  func strict() throws {
    let outcome = try Command.run(Self.host, ["--strict", Self.folder.get().place("plugins").path])
    #expect(outcome.status == 0, "\(outcome)")
    #expect(
      outcome.lines == [
        "loaded libopening.so", "loaded libtill.so", "loaded libcounter-2.so", "the door is open",
        "the coins are counted", "the stock is counted, by counter 2.0.0",
        "started: opening, till, counter",
      ], "\(outcome)")
  }

  @Test("A plugin that ends the host is found by its mark at the second start, and loaded no more")
  func quarantine() throws {
    let (folder, states) = (try Folder(), try Folder())
    for name in ["licence", "opening"] {
      try FileManager.default.copyItem(
        at: Self.folder.get().place("plugins/lib\(name).so"), to: folder.place("lib\(name).so"))
    }
    func run(_ option: String) throws -> Outcome {
      try Command.run(
        Self.host, [option, folder.path], environment: ["XDG_STATE_HOME": states.path])
    }
    let first = try run("--trusting")
    #expect(first.status != 0 && first.lines.isEmpty, "\(first)")
    let second = try run("--trusting")
    #expect(
      second.lines == ["loaded libopening.so", "the door is open", "started: opening"], "\(second)")
    let marks = states.place("PluginHost/plugins")
    let mark = try #require(try FileManager.default.contentsOfDirectory(atPath: marks.path).first)
    let report = try run("--report")
    #expect(report.output.contains("[quarantined]"), "\(report)")
    // Without the mark the plugin is tried again.
    try FileManager.default.removeItem(at: marks.appendingPathComponent(mark))
    #expect(try run("--trusting").status != 0)
  }

  @Test("A process that may run nothing that was writable loads what keeps to that")
  func keptCode() throws {
    let folder = try Folder()
    try FileManager.default.copyItem(
      at: Self.folder.get().place("plugins/libopening.so"), to: folder.place("libopening.so"))
    // A program that this one executes keeps PR_SET_MDWE.
    try Compiler.compile(
      """
      #include <sys/prctl.h>
      #include <unistd.h>
      int main(int count, char **words) {
        return prctl(65, 1L, 0L, 0L, 0L) ? 69 : execv(words[1], words + 1);
      }
      """, as: "keeping", in: folder.url, [])
    try Compiler.library(
      Compiler.module("stack"), as: "libstack.so", in: folder.url, ["-Wl,-z,execstack"])
    func run(_ start: String, _ words: String...) throws -> Outcome {
      try Command.run(start, words + ["--trusting", folder.path])
    }
    let keeping = folder.place("keeping").path
    let kept = try run(keeping, Self.host)
    guard kept.status != 69 else { try Test.cancel("a kernel before Linux 6.3") }
    #expect(
      kept.lines == ["loaded libopening.so", "the door is open", "started: opening"], "\(kept)")
    let report = try run(keeping, Self.host, "--report").output
    #expect(report.contains("[executable-stack]") && report.contains("PR_SET_MDWE"), "\(report)")
    #expect(try !run(Self.host, "--report").output.contains("[executable-stack]"))
  }

  @Test("Whoever starts the host switches plugins off")
  func switchedOff() throws {
    let path = try Self.folder.get().place("plugins").path
    let outcome = try Command.run(Self.host, [path], environment: ["BEEHIVE_PLUGINS": "off"])
    #expect(outcome.lines == ["started: "])
    let report = try Command.run(
      Self.host, ["--report", path], environment: ["BEEHIVE_PLUGINS": "off"])
    #expect(report.output.contains("No plugin would load."))
    #expect(report.output.contains("BEEHIVE_PLUGINS=off is in the environment"))
  }

  @Test("But not of a host that has more rights than they have", .needs("patchelf"))
  func privileged() throws {
    guard geteuid() == 0 else { try Test.cancel("only root makes programs that run as others") }
    let library = Repository.products.appendingPathComponent("libBeeHive.so").path
    let isReached =
      try Command.run(
        "chroot", ["--userspec=65534:65534", "/", "test", "-r", library]
      ).status == 0
    guard isReached else { try Test.cancel("another user does not reach the libraries") }
    let folder = try Folder()
    func give(_ path: String, as name: String) throws -> String {
      let copy = folder.place(name).path
      try Command.output("cp", [path, copy])
      try Command.output("chown", ["65534", copy])
      try Command.output("chmod", ["4755", copy])
      return copy
    }
    let id = try give(Command.output("which", ["id"]).trimmingCharacters(in: .newlines), as: "id")
    guard try Command.output(id, ["-u"]) == "65534\n" else {
      try Test.cancel("no program runs as another user here")
    }
    let unlinked = folder.place("unlinked").path
    try Command.output("cp", [Self.host, unlinked])
    // The loader does not look next to such a program.
    let swift = try Command.output("patchelf", ["--print-rpath", unlinked]).prefix { $0 != ":" }
    try Command.output(
      "patchelf", ["--set-rpath", "\(swift):\(Repository.products.path)", unlinked])
    let outcome = try Command.run(
      give(unlinked, as: "host"), [Self.folder.get().place("plugins").path],
      environment: ["BEEHIVE_PLUGINS": "off"])
    #expect(outcome.lines.last == "started: opening, receipts, ledger, till, counter", "\(outcome)")
  }
}
