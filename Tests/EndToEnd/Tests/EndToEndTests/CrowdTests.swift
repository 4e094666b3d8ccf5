import Foundation
import Testing

/// A thousand libraries of ten entries each.
@Suite struct CrowdTests {
  /// The libraries, made once: one is compiled, and the others have its bytes with another number in
  /// every name.
  static let workshop = Result {
    let workshop = try Workshop()
    let names = (0..<4).map { "Speaker0000\($0)" }
    let services = names.map { "BEEHIVE_SERVICE(\($0), Table, &speaker);" }
    let template = try workshop.library(
      "template",
      """
      #include <BeeHive.h>
      #include "contract.h"
      static const char *say(void) { return "I am 0000"; }
      static const struct speaker speaker = { say };
      \(services.joined(separator: "\n"))
      BeeHiveMod(Crowd.Module00000); BeeHiveMod(Crowd.Module00001); BeeHiveMod(Crowd.Module00002);
      BeeHiveService(Crowd.View00000, Crowd.Model00000);
      BeeHiveService(Crowd.View00001, Crowd.Model00001);
      BeeHiveService(Crowd.View00002, Crowd.Model00002);
      """)
    let bytes = try Data(contentsOf: URL(filePath: template))
    let words = ["Speaker", "Module", "View", "Model", "I am "].map { "\($0)0000" }
    let places = words.flatMap { word in ends(of: Data(word.utf8), in: bytes) }
    try FileManager.default.createDirectory(
      at: workshop.folder.appending(path: "crowd"), withIntermediateDirectories: true)
    for number in 0..<1000 {
      let digits = Data(String(10_000 + number).dropFirst().utf8)
      var copy = bytes
      for place in places { copy.replaceSubrange(place - 4..<place, with: digits) }
      try copy.write(to: workshop.folder.appending(path: "crowd/lib\(10_000 + number).so"))
    }
    return workshop
  }

  /// Where each occurrence ends.
  private static func ends(of word: Data, in bytes: Data) -> [Int] {
    var places: [Int] = []
    var rest = bytes.startIndex..<bytes.endIndex
    while let found = bytes.range(of: word, in: rest) {
      places.append(found.upperBound)
      rest = found.upperBound..<bytes.endIndex
    }
    return places
  }

  @Test("All ten thousand entries are there, once each, and a second walk changes nothing")
  func everyone() throws {
    let said = try Program.host(
      "touch", "open-all=crowd", "count", "walk-twice", "speak=Speaker09993",
      in: Self.workshop.get())
    #expect(
      said == [
        "4000 bound, 6000 accepted, 0 rejected", "10000 distinct, the second walk the same",
        "I am 0999",
      ])
  }

  @Test("They go as they came") func leaving() throws {
    let said = try Program.host(
      "open-all=crowd", "count", "close-all", "count", "open-all=crowd", "count",
      in: Self.workshop.get())
    #expect(
      said == [
        "4000 bound, 6000 accepted, 0 rejected", "0 bound, 0 accepted, 0 rejected",
        "4000 bound, 6000 accepted, 0 rejected",
      ])
  }

  @Test("Opening one and asking for its service costs the same at the end as at the beginning")
  func growth() throws {
    let figures = /1000 answers, microseconds each: early ([0-9.]+), late ([0-9.]+)/
    // 1 is ideal, 2.3 what a cost has that grows with the number of images. The least of up to ten:
    // another process, which is there or not while the last ones are opened, can only add to it.
    let bound = 1.8
    var (early, late) = (Double.infinity, Double.infinity)
    for _ in 0..<10 where !(late < bound * early) {
      let said = try Program.host("touch", "grow=crowd", in: Self.workshop.get())
      let found = try #require(said[0].wholeMatch(of: figures), "\(said)")
      early = min(early, try #require(Double(found.1)))
      late = min(late, try #require(Double(found.2)))
    }
    #expect(late < bound * early, "early \(early), late \(late)")
  }
}
