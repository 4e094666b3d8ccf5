package import BinaryImage
internal import ObjectFiles
internal import PluginFiles
internal import Registration
internal import SwiftContracts
internal import SwiftMetadata

/// Reads everything in a file, as `section-dump` would with all of its commands.
public func readEverything(in bytes: [UInt8], of file: MemoryFile) {
  file.write(bytes)
  ImageFile.forEachImage(pathBytes: file.path) { found in
    guard let image = try? found.image.get() else { return }
    _ = image.identity
    _ = try? Scan(of: image)
    _ = try? (image as? ELFFile)?.startup()
    _ = try? FileTables(of: image)?.forEachPath(in: .types) { _, _ in }
    if let expected = try? ContractExpectations(of: image),
      let library = try? ContractLibrary(of: image)
    {
      _ = ContractDrift.all(of: expected, against: library)
    }
    guard let sections = try? image.allSections() else { return }
    for section in sections.prefix(8) { readPointers(of: section, in: image) }
  }
}

/// Resolves the first words of a section, and the texts that they lead to.
package func readPointers(of section: Section, in image: any FileImage) {
  _ = try? image.withBytes(of: section) { $0.count }
  for offset in stride(from: 0, to: min(section.size, 64), by: image.pointerSize) {
    guard let pointer = try? image.pointer(at: offset, in: section) else { continue }
    _ = try? image.withText(at: pointer.target, limit: 4096) { $0.count }
  }
}

/// Returns the bytes that libFuzzer hands over.
public func copied(_ start: UnsafePointer<UInt8>?, _ count: Int) -> [UInt8] {
  // Sound: libFuzzer gives the number of bytes, and keeps them for the call's duration.
  unsafe Array(UnsafeBufferPointer(start: start, count: count))
}
