import BeeHiveRouting
import CFloors
import Foundation

// Counts the instructions to read each document of decision tables in a folder, by itself and as a part of larger ones.
// A file is JSON up to a NUL, as the fuzzer writes it. `Scripts/fuzz --instructions` runs this under callgrind.

private func read(_ document: Data) {
  guard let table = try? JSONDecoder().decode(DecisionTable.self, from: document) else { return }
  _ = try? Router().calls.load(table)
}

guard CommandLine.arguments.count == 2, floor_counts() != 0 else {
  print("usage: documents <folder>, built with valgrind's headers")
  exit(64)
}
let folder = URL(filePath: CommandLine.arguments[1], directoryHint: .isDirectory)
let rule = #"{"name": "r", "match": {}, "do": {"answer": "#
for name in try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() {
  let found = try Data(contentsOf: folder.appending(path: name)).prefix { $0 != 0 }
  guard let text = String(data: found, encoding: .utf8) else { continue }
  for copies in [1, 4, 16] {
    let parts = [String](repeating: text, count: copies).joined(separator: ",")
    for document in [
      text, #"{"version": 1, "rules": [\#(parts)]}"#,
      #"{"version": 1, "rules": [\#(rule)[\#(parts)]}}]}"#,
      #"{"version": 1, "rules": [\#(rule)\#(String(repeating: "[", count: copies))\#(text)"#
        + "\(String(repeating: "]", count: copies))}}]}",
    ] where copies > 1 || document == text {
      let document = Data(document.utf8)
      read(document)
      floor_count_begin()
      read(document)
      unsafe floor_count_end("\(document.count) bytes of \(name)")
    }
  }
}
