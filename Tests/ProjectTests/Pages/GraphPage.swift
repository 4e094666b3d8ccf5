import Foundation
import TestSupport

/// A page that `Examples/GraphPage` draws of C libraries.
enum GraphPage: String, CaseIterable, Sendable {
  /// Seven entries, with a cycle and a missing module.
  case small
  /// A name and a folder that would act as scripts.
  case hostile
  /// Five hundred modules in fifty libraries.
  case large

  /// The program that draws the page, built for the test.
  private static let program = Result {
    let package = ["--package-path", Repository.place("Examples/GraphPage").path]
    _ = try Command.output("swift", ["build"] + package)
    let built = try Command.output("swift", ["build", "--show-bin-path"] + package)
    return "\(built.trimmingCharacters(in: .whitespacesAndNewlines))/graph-page"
  }

  /// The sources of the page's libraries.
  private var libraries: [String] {
    switch self {
    case .small:
      [
        """
        static const int english = 1;
        BEEHIVE_MODULE(shop, &operations, BEEHIVE_REQUIRES("log") BEEHIVE_REQUIRES("nowhere"));
        BEEHIVE_MODULE(planted_name, &operations, BEEHIVE_AFTER("shop"));
        BEEHIVE_SERVICE(Greeter, EnglishGreeter, &english,);
        """,
        """
        BEEHIVE_MODULE(log, &operations, BEEHIVE_REQUIRES("disk"));
        BEEHIVE_MODULE(disk, &operations, BEEHIVE_AFTER("log"));
        """,
      ]
    case .hostile:
      [
        #"""
        BEEHIVE_MODULE(a, &operations, BEEHIVE_REQUIRES(
          "</script><script>document.title='owned'</script>"
          "<img src=x onerror=\"document.title='owned'\">"));
        """#
      ]
    case .large:
      (0..<50).map { library in
        (0..<10).map { Self.module(library * 10 + $0) }.joined(separator: "\n")
      }
    }
  }

  /// Returns the folder of a library in the page's folder, with a slash at its end.
  private func subfolder(_ number: Int) -> String {
    switch (self, number) {
    case (.small, 1): "more/"
    case (.hostile, _): "<!--<script>/"
    default: ""
    }
  }

  private static func module(_ number: Int) -> String {
    let arrows =
      number < 20
      ? ""
      : """
      BEEHIVE_REQUIRES("module_\(number * 7 % 20)") BEEHIVE_AFTER("module_\(number / 2)")
      """
    return "BEEHIVE_MODULE(module_\(number), &operations, \(arrows));"
  }

  /// Compiles the libraries and draws the page into a folder.
  ///
  /// - Returns: The page.
  func draw(in folder: Folder) throws -> URL {
    var files: [String] = []
    for (number, text) in libraries.enumerated() {
      let source = """
        #include <BeeHive.h>
        static const beehive_module_operations operations = {0};
        \(text)
        """
      let library = try TestSupport.Compiler.library(
        source, as: "\(self)/\(subfolder(number))lib\(rawValue)\(number).so", in: folder.url)
      files.append(library.path)
    }
    let data = try Command.output(Repository.sectionDump, ["graph", "--format", "json"] + files)
    let page = try Command.run(try Self.program.get(), [], in: folder.url, input: Data(data.utf8))
      .output
    return try folder.write(page, as: "\(rawValue).html")
  }
}
