#if !canImport(Darwin)
  internal import CElf
#endif

/// What a mapped image is, read from the headers that were copied of it.
extension ImageIdentity {
  /// Describes a mapped image as the reader of its format describes the file.
  init(of mapped: MappedImage, header: [UInt8], programHeaders: [UInt8]) {
    let bits = MemoryLayout<UInt>.size * 8
    #if _endian(little)
      let order = ByteOrder.little
    #else
      let order = ByteOrder.big
    #endif
    #if canImport(Darwin)
      let format = Format.macho
      let machine = Self.machineOfThisProcess
      let isExecutable = mapped.role == .program
    #else
      let format = Format.elf
      let number: UInt16? = header.span.integer(at: 18, order: order)
      let machine = ELFMachine(number: number ?? 0, bits: bits, order: order).name
      let isExecutable =
        mapped.role == .program
        || Self.isExecutable(header: header, programHeaders: programHeaders, order: order)
    #endif
    self.init(
      path: ImagePaths.displayName(of: mapped), format: format, bits: bits, byteOrder: order,
      machine: machine, kind: isExecutable ? .executable : .shared, id: mapped.buildID)
  }

  #if canImport(Darwin)
    private static var machineOfThisProcess: String {
      #if arch(arm64)
        "arm64"
      #elseif arch(x86_64)
        "x86_64"
      #else
        "unknown"
      #endif
    }
  #else
    /// Whether a program is told from a library by what `ELFFile` goes by, as far as it is mapped.
    private static func isExecutable(
      header: [UInt8], programHeaders: [UInt8], order: ByteOrder
    ) -> Bool {
      if header.span.integer(at: 16, order: order) == UInt16(ET_EXEC) { return true }
      let size = MemoryLayout<UInt>.size == 8 ? 56 : 32
      return stride(from: 0, to: programHeaders.count, by: size).contains {
        programHeaders.span.integer(at: $0, order: order) == UInt32(PT_INTERP)
      }
    }
  #endif
}
