package import BinaryImage

/// What the file declares, and whether it is there.
extension MachOFile {
  /// Throws where the file ends before a segment, a section or a table of the loader does, or where
  /// the load commands contradict what else the file says.
  package func checkExtents() throws(ImageError) {
    try file.tellingChanges { () throws(ImageError) in try checkDeclared() }
    try file.checkUnchanged()
  }

  private func checkDeclared() throws(ImageError) {
    let commands = try commands()
    func check(_ what: String, _ offset: UInt64, _ size: UInt64) throws(ImageError) {
      guard size == 0 || file.holds(offset, size) else {
        throw file.error(.truncated, "The file ends before \(what) does.", at: offset)
      }
    }
    for segment in commands.segments {
      let name = segment.name.isEmpty ? "its segment" : "segment \(segment.name)"
      try check(name, segment.offset, segment.fileSize)
    }
    for section in commands.sections {
      let name = "section \(section.segment),\(section.name)"
      if let offset = section.offset { try check(name, offset, section.size) }
      try check(
        "what relocates \(name)", section.relocationOffset, section.relocationCount * 8)
    }
    if let symbols = commands.symbols {
      try check("the symbol table", symbols.offset, symbols.count * UInt64(header.symbolSize))
      try check("what names the symbols", symbols.stringOffset, symbols.stringSize)
    }
    if let info = commands.dyldInfo {
      for table in [info.rebase, info.bind, info.weakBind, info.lazyBind] {
        try check("what the loader is told", table.offset, table.size)
      }
    }
    if let table = commands.chainedFixups {
      try check("the table of chained fixups", table.offset, table.size)
    }
    if let tables = commands.classicRelocations {
      try check("the table of relocations", tables.external.offset, tables.external.size)
      try check("the table of relocations", tables.local.offset, tables.local.size)
    }
    try checkContradictions()
  }
}
