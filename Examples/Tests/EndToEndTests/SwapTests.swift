import Foundation
import Testing

/// One process replaces the files that another one judges and loads, as fast as it can.
@Suite struct SwapTests {
  /// Exchanges the plugins, their libraries and the links of two folders, again and again.
  private static let swapper = """
    #define _GNU_SOURCE
    #include <fcntl.h>
    #include <stdio.h>
    #include <unistd.h>
    static void swap(const char *one, const char *other) {
      if (renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) != 0) _exit(1);
    }
    int main(void) {
      puts("ready");
      fflush(stdout);
      for (;;) {
        swap("plugins", "spare");
        swap("one/libplug.so", "other/libplug.so");
        swap("one/lib/libhelper.so", "other/lib/libhelper.so");
      }
    }
    """

  /// Makes a folder with a plugin that needs a library next to it.
  private static func make(_ name: String, in folder: Folder, running more: String = "") throws {
    let place = try folder.makeFolder(name)
    try Compiler.library(
      "int help(void) { return 7; }\n\(more)", as: "lib/libhelper.so", in: place,
      ["-w", "-Wl,-soname,libhelper.so"])
    try Compiler.library(
      Compiler.module("plug") + "\nint help(void); int call(void) { return help(); }\n\(more)",
      as: "libplug.so", in: place,
      ["-w", "-L", "lib", "-lhelper", "-Wl,-rpath,$ORIGIN/lib", "-Wl,-z,noexecstack"])
    for file in ["libplug.so", "lib/libhelper.so"] {
      try? FileManager.default.removeItem(at: place.appendingPathComponent("\(file).source.c"))
    }
  }

  @Test("Under the strict policy no byte is mapped that was not judged")
  func swap() throws {
    let folder = try Folder()
    let ran = folder.place("ran").path
    try Self.make("one", in: folder)
    // The policy refuses it wherever it sees it; nothing else about it is wrong.
    let constructor = """
      #include <fcntl.h>
      __attribute__((constructor)) static void run(void) { open("\(ran)", O_CREAT | O_WRONLY, 0600); }
      """
    try Self.make("other", in: folder, running: constructor)
    for (link, target) in [("plugins", "one"), ("spare", "other")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.place(link).path, withDestinationPath: target)
    }
    try Compiler.compile(Self.swapper, as: "swapper", in: folder.url, [])
    let host = Repository.products.appendingPathComponent("PluginHost").path
    // On a busy machine many rounds may miss a good moment; one of them has to meet it.
    let (least, most) = (Effort.times(30, full: 10_000), 10_000)
    var (runs, loads) = (0, 0)
    try Command.whileRunning(folder.place("swapper").path, [], in: folder.url) { swapper, _ in
      while runs < least || loads == 0 && runs < most {
        runs += 1
        let outcome = try Command.run(host, ["--strict", "plugins"], in: folder.url)
        if outcome.output.hasPrefix("loaded libplug.so") { loads += 1 }
        try #require(!FileManager.default.fileExists(atPath: ran), "\(outcome)")
      }
      #expect(kill(swapper, 0) == 0)
    }
    #expect(loads > 0)
  }
}
