internal import BinaryImage
internal import Harness
internal import ObjectFiles

nonisolated(unsafe) private let file = MemoryFile()

/// Reads any bytes as the relocations of an otherwise whole library. The first byte chooses encoding, class and byte
/// order, so that no run is spent on headers.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  let input = unsafe copied(start, min(count, 1 << 16))
  guard let choice = input.first else { return 0 }
  unsafe file.write(library(relocatedBy: Array(input.dropFirst()), choice))
  guard let image = unsafe try? ImageFile.open(OpenedFile(path: file.path)),
    let sections = try? image.sections(named: "BeehiveMods"), let section = sections.first
  else { return 0 }
  readPointers(of: section, in: image)
  return 0
}

/// The tags of each table's address and size in the dynamic section.
private let tags: [(place: UInt64, size: UInt64)] = [
  (7, 8), (17, 18), (36, 35), (0x6000_0011, 0x6000_0012), (0x6000_000f, 0x6000_0010), (23, 2),
]

/// Machines whose relocations are written differently.
private let machines: [UInt64] = [62, 183, 8, 43, 21, 3, 40, 22]

/// Returns a library of one section of pointers, with this table of relocations.
private func library(relocatedBy table: [UInt8], _ choice: UInt8) -> [UInt8] {
  let is64 = choice & 1 == 0
  let isLittle = choice & 2 == 0
  let tag = tags[Int(choice >> 2 & 7) % tags.count]
  let machine = machines[Int(choice >> 5)]
  func number(_ value: UInt64, _ size: Int) -> [UInt8] {
    let little = (0..<size).map { UInt8(truncatingIfNeeded: value >> UInt64($0 * 8)) }
    return isLittle ? little : little.reversed()
  }
  func word(_ value: UInt64) -> [UInt8] { number(value, is64 ? 8 : 4) }
  // Headers, dynamic section, names, pointers, symbols, relocations; every address is an offset.
  let size = UInt64(0x800 + table.count)
  var bytes: [UInt8] = [0x7f, 0x45, 0x4c, 0x46, is64 ? 2 : 1, isLittle ? 1 : 2, 1]
  bytes += [UInt8](repeating: 0, count: 9) + number(3, 2) + number(machine, 2) + number(1, 4)
  bytes += word(0) + word(0x40) + word(0x100) + number(0, 4) + number(is64 ? 64 : 52, 2)
  bytes += number(is64 ? 56 : 32, 2) + number(2, 2) + number(is64 ? 64 : 40, 2) + number(3, 2)
  bytes += number(1, 2)
  func pad(to place: Int) { bytes += [UInt8](repeating: 0, count: place - bytes.count) }
  func segment(_ type: UInt64, _ offset: UInt64, _ size: UInt64) {
    bytes += number(type, 4) + (is64 ? number(6, 4) : []) + word(offset) + word(offset)
    bytes += word(offset) + word(size) + word(size) + (is64 ? [] : number(6, 4)) + word(8)
  }
  pad(to: 0x40)
  segment(1, 0, size)
  segment(2, 0x300, 0x100)
  pad(to: 0x100)
  func section(_ name: UInt64, _ type: UInt64, _ offset: UInt64, _ size: UInt64) {
    bytes += number(name, 4) + number(type, 4) + word(type == 3 ? 0 : 3) + word(offset)
    bytes += word(offset) + word(size) + number(0, 4) + number(0, 4) + word(8) + word(0)
  }
  section(0, 0, 0, 0)
  section(1, 3, 0x400, 32)
  section(1, 1, 0x500, 0x100)
  pad(to: 0x300)
  let entries: [(UInt64, UInt64)] = [
    (tag.place, 0x800), (tag.size, UInt64(table.count)), (20, choice & 1 == 0 ? 7 : 17), (6, 0x600),
    (5, 0x400), (10, 32), (0, 0),
  ]
  for (tag, value) in entries { bytes += word(tag) + word(value) }
  pad(to: 0x400)
  bytes += Array("\0BeehiveMods\0symbol\0".utf8)
  pad(to: 0x500)
  for index in 0..<UInt64(0x100 / (is64 ? 8 : 4)) { bytes += word(0x400 + index % 16) }
  pad(to: 0x800)
  return bytes + table
}
