import Foundation

/// Where the headers of a file stand: what tells readers where everything else is.
enum HeaderPlaces {
  /// The ELF header, the program headers and the section headers.
  static func ofELF(_ bytes: Data) -> [Int] {
    let isBig = bytes[5] == 2
    let is64 = bytes[4] == 2
    let word = is64 ? 8 : 4
    let size = is64 ? 64 : 52
    func number(_ place: Int, _ size: Int) -> Int { Self.number(bytes, place, size, isBig) }
    func table(at offset: Int, entry: Int) -> Range<Int> {
      let start = number(offset, word)
      return start..<start + number(size - entry, 2) * number(size - entry + 2, 2)
    }
    return Array(0..<size) + table(at: 24 + word, entry: 10) + table(at: 24 + 2 * word, entry: 6)
  }

  /// The Mach-O header and the load commands, without the names of the sections that hold entries:
  /// nothing else in the file knows them, so one that is called otherwise is another section.
  static func ofMachO(_ bytes: Data) -> [Int] {
    let size = bytes[0] == 0xcf ? 32 : 28
    let end = size + number(bytes, 20, 4, false)
    let names = (size..<end).filter { bytes[$0...].starts(with: Data("Beehive".utf8)) }
    return (0..<end).filter { place in !names.contains { ($0..<$0 + 16).contains(place) } }
  }

  /// The container's own headers, indices and names; those of its members not.
  static func ofContainer(_ bytes: Data) -> [Int] {
    guard bytes.starts(with: Data("!<arch>\n".utf8)) else {
      return Array(0..<8 + Int(bytes[7]) * (bytes[3] == 0xbf ? 32 : 20))
    }
    var places = Array(0..<8)
    var position = 8
    while position + 60 <= bytes.count {
      func field(_ start: Int, _ count: Int) -> String {
        let range = position + start..<position + start + count
        return String(decoding: bytes[range], as: UTF8.self).trimmingCharacters(in: .whitespaces)
      }
      // Owner, dates and mode say nothing of the contents.
      places += position..<position + 16
      places += position + 48..<position + 60
      let size = Int(field(48, 10)) ?? 0
      if field(0, 16).hasPrefix("#1/") {
        places += position + 60..<position + 60 + (Int(field(3, 13)) ?? 0)
      } else if ["/", "//", "/SYM64/"].contains(field(0, 16)) {
        places += position + 60..<position + 60 + min(size, 64)
      }
      position += 60 + size + size % 2
    }
    return places
  }

  private static func number(_ bytes: Data, _ place: Int, _ size: Int, _ isBig: Bool) -> Int {
    let field = bytes[place..<place + size]
    return (isBig ? Array(field) : field.reversed()).reduce(0) { $0 << 8 | Int($1) }
  }
}
