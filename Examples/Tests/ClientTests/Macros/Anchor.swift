import Foundation
import Testing

/// The note that locates the entries of an image, and the call that announces it.
enum Anchor {
  static func expect(
    in library: String, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let sections = try lines("-SW", library)
    #expect(sections.contains { $0.contains(" .note.beehive ") }, sourceLocation: sourceLocation)
    let array = try #require(
      sections.first { $0.contains(" .init_array ") }, sourceLocation: sourceLocation)
    // `[Nr] Name Type Address Off Size …`, the number with a space in it or not.
    let fields = array.split(separator: "]").last?.split(separator: " ") ?? []
    let start = try #require(UInt64(fields[2], radix: 16), sourceLocation: sourceLocation)
    let size = try #require(UInt64(fields[4], radix: 16), sourceLocation: sourceLocation)

    // The address of the announcing function is among those that the loader calls.
    let up = try #require(
      try lines("-sW", library).first { $0.hasSuffix(" beehive_image_up") },
      sourceLocation: sourceLocation)
    let function = UInt64(up.split(separator: " ")[1], radix: 16)
    let initialisers = try lines("-rW", library).filter { line in
      guard let place = line.split(separator: " ").first.flatMap({ UInt64($0, radix: 16) }) else {
        return false
      }
      return place >= start && place < start + size
    }
    #expect(
      initialisers.contains { line in
        line.split(separator: " ").last.flatMap { UInt64($0, radix: 16) } == function
      }, "\(initialisers)", sourceLocation: sourceLocation)
  }

  private static func lines(_ option: String, _ library: String) throws -> [Substring] {
    try Command.output("readelf", [option, library]).split(separator: "\n")
  }
}
