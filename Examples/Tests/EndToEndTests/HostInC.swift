import Foundation
import Testing

/// Hosts in C that include <beehive/runtime.h>, link libBeeHive.so and never name Swift.
extension Workshop {
  /// Compiles a host, with the libraries of the folder that `options` name, and returns its path.
  func hostInC(_ text: String, _ options: [String] = []) throws -> String {
    let path = folder.place("host").path
    let library = Repository.products.path
    try output(
      Compiler.program,
      ["-std=c11", "-Wall", "-Wextra", "-Wno-unused", "-Werror", "-pthread", "-o", path]
        + Self.headers + [try source("host", text), "-L", library, "-lBeeHive"] + options
        + ["-Wl,-rpath," + library, "-ldl"])
    return path
  }

  /// The beginning of a host in C, ahead of its own line 1.
  static let prologueInC = """
    #define _GNU_SOURCE
    #include <beehive/runtime.h>
    #include <contract.h>
    #include <dlfcn.h>
    #include <malloc.h>
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <unistd.h>
    #define SAY(...) (printf(__VA_ARGS__), putchar('\\n'), fflush(stdout))
    #define TRY(call) SAY(#call ": %s", (call) ? "yes" : beehive_last_error())

    """
}
