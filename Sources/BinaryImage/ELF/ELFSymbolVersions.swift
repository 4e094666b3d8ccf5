internal import CElf

/// A version of symbols that a file needs of a library, whether it names a symbol of it or not.
package struct NeededVersion: Hashable, Sendable {
  package var name: String
  /// As the file calls it: `DT_NEEDED`.
  package var library: String
  /// Whether the file goes without: `VER_FLG_WEAK`.
  package var isWeak: Bool
}

/// Which version each symbol of a file has: `DT_VERSYM`, `DT_VERDEF`, `DT_VERNEED`.
///
/// ELF: `gelf_getversym`, `gelf_getverdef`, `gelf_getverneed`.
struct ELFSymbolVersions {
  private let file: OpenedFile
  /// The number of each symbol's version; nil where symbols have none.
  private let numbers: ELFTable<UInt16>?
  private var names: [UInt16: String] = [:]
  /// The library that each wanted version was linked from.
  private var libraries: [UInt16: String] = [:]

  /// The versions that it defines, its own name among them; nil where it defines none.
  private(set) var defined: Set<String>?
  /// The versions that its libraries must define.
  private(set) var needed: [NeededVersion] = []
  /// The number of the form in which they are written, where it is not 1.
  private(set) var unknownFormat: UInt16?

  /// More versions than any file has, or needs.
  private static let most = 1 << 14

  /// Reads the names of the versions.
  init(of image: ELFFile) throws(ImageError) {
    file = image.file
    guard let dynamic = try image.dynamic(), let symbols = dynamic.symbols,
      let start = dynamic.value(Int64(DT_VERSYM))
    else {
      numbers = nil
      return
    }
    let extent = try image.segments().extent(from: VirtualAddress(rawValue: start))
    numbers = ELFTable(
      .versions, extent ?? FileExtent(offset: 0, size: 0), of: image.file, image.header.format)
    var rest = Self.most
    // The loader follows the distances to the last one, and believes no count.
    if let start = dynamic.value(Int64(DT_VERDEF)) {
      var defined: Set<String> = []
      let chain = try ELFVersionChain(at: start, of: image, ELF_T_VDEF)
      var (offset, one, own) = (0, GElf_Verdef(), GElf_Verdaux())
      while true {
        try Self.spend(&rest, of: image)
        try unsafe chain.read(offset) { unsafe gelf_getverdef($0, $1, &one) != nil }
        // The first name is its own.
        try unsafe chain.read(offset + Int(one.vd_aux)) {
          unsafe gelf_getverdaux($0, $1, &own) != nil
        }
        let name = try symbols.text(at: UInt64(own.vda_name))
        names[one.vd_ndx & 0x7fff] = name
        defined.insert(name)
        guard one.vd_next > 0 else { break }
        offset += Int(one.vd_next)
      }
      self.defined = defined
    }
    if let start = dynamic.value(Int64(DT_VERNEED)) {
      let chain = try ELFVersionChain(at: start, of: image, ELF_T_VNEED)
      var (offset, one, wanted) = (0, GElf_Verneed(), GElf_Vernaux())
      var format: UInt16?
      while true {
        try Self.spend(&rest, of: image)
        try unsafe chain.read(offset) { unsafe gelf_getverneed($0, $1, &one) != nil }
        format = format ?? one.vn_version
        let library = try symbols.text(at: UInt64(one.vn_file))
        var place = offset + Int(one.vn_aux)
        while true {
          try Self.spend(&rest, of: image)
          try unsafe chain.read(place) { unsafe gelf_getvernaux($0, $1, &wanted) != nil }
          let name = try symbols.text(at: UInt64(wanted.vna_name))
          let number = wanted.vna_other & 0x7fff
          (names[number], libraries[number]) = (name, library)
          let isWeak = wanted.vna_flags & UInt16(VER_FLG_WEAK) != 0
          needed.append(NeededVersion(name: name, library: library, isWeak: isWeak))
          guard wanted.vna_next > 0 else { break }
          place += Int(wanted.vna_next)
        }
        guard one.vn_next > 0 else { break }
        offset += Int(one.vn_next)
      }
      if format != 1 { unknownFormat = format }
    }
  }

  private static func spend(_ rest: inout Int, of image: ELFFile) throws(ImageError) {
    rest -= 1
    try image.file.check(
      rest >= 0, .malformed, "It claims more than \(most) versions of symbols.")
  }

  /// Whether symbols have versions.
  var areThere: Bool { numbers != nil }

  /// Whether versions of the C library are needed, and not the one by which it says that its loader knows `DT_RELR`.
  var lackPackedRelocations: Bool {
    let needed = libraries.filter { $0.value.hasPrefix("libc.so.") }.keys
    return !needed.isEmpty && !needed.contains { names[$0] == "GLIBC_ABI_DT_RELR" }
  }

  /// Sets the version of a symbol; nil for the base one, and where there are none.
  func describe(_ symbol: inout BoundSymbol, _ number: UInt32) throws(ImageError) {
    guard let numbers else { return }
    let value = try numbers.row(Int(number))
    // 0 and 1 are no versions: local, and global.
    let index = value & 0x7fff
    if index > 1 { (symbol.version, symbol.library) = (names[index], libraries[index]) }
    // A reference without a version is met by the file's first version, hidden or not.
    symbol.isHidden = value & 0x8000 != 0 && index != 2
  }
}

/// The structures of versions, each of which says how far the next one is.
private final class ELFVersionChain {
  private let capsule: ELFDescriptor
  private let type: Elf_Type
  private let file: OpenedFile
  private let extent: FileExtent

  init(at start: UInt64, of image: ELFFile, _ type: Elf_Type) throws(ImageError) {
    let (file, format) = (image.file, image.header.format)
    guard let found = try image.segments().extent(from: VirtualAddress(rawValue: start)) else {
      throw file.outsideSegments(VirtualAddress(rawValue: start))
    }
    let held = file.held(at: found.offset, found.size)
    let extent = ELFGuard.versions(in: held, format.order)
    (self.file, self.extent, self.type) = (file, extent, type)
    capsule = try unsafe ELFDescriptor(format, count: Int(extent.size), file.isRefused) {
      room throws(ImageError) in try unsafe file.read(at: extent.offset, into: room)
    }
  }

  /// Hands out the structure at an offset.
  func read(
    _ offset: Int, _ body: (UnsafeMutablePointer<Elf_Data>, Int32) -> Bool
  ) throws(ImageError) {
    guard let data = unsafe capsule.data(type), let place = Int32(exactly: offset),
      unsafe body(data, place)
    else {
      throw file.error(
        .malformed,
        "A version of symbols is \(offset) bytes behind the first one, where none can be read.",
        at: extent.offset)
    }
  }
}
