internal import CElf

/// The symbols of a linked file: all of them, for what no relocation leads to.
extension ELFFile {
  /// Calls `body` with each symbol, those of the linker first, which a stripped file lacks, until it returns false.
  package func forEachSymbol(_ body: (Symbol) -> Bool) throws(ImageError) {
    for index in sectionIndices {
      let entry = try sectionHeader(index)
      guard entry.type == UInt32(SHT_SYMTAB) else { continue }
      let table = ELFSymbols(
        of: file, header, entries: entry.extent, names: try sectionHeader(entry.link).extent)
      for number in 0..<(try ELFSymbolHash.checked(UInt64(table.count), of: self)) {
        guard body(try table.symbol(number)) else { return }
      }
    }
    try forEachLoaderSymbol(body)
  }

  /// Calls `body` with each symbol that the loader finds or looks for, until it returns false.
  package func forEachLoaderSymbol(_ body: (Symbol) -> Bool) throws(ImageError) {
    guard let symbols = try dynamic()?.symbols else { return }
    for number in 0..<(try symbolHash.get().count) {
      guard body(try symbols.symbol(number)) else { return }
    }
  }
}
