#if !canImport(Darwin)
  internal import CElf
#endif

/// What a mapped image is, read from the headers that were copied of it.
extension ImageIdentity {
  /// Describes a mapped image as the reader of its format describes the file.
  init(of mapped: MappedImage, header: Span<UInt8>, programHeaders: Span<UInt8>) {
    let bits = MemoryLayout<UInt>.size * 8
    let order = ByteOrder.ofThisProcess
    #if canImport(Darwin)
      let format = Format.macho
      let machine = Self.machineOfThisProcess
      let isExecutable = mapped.role == .program
    #else
      let format = Format.elf
      let machine = Self.machineOfThisProcess ?? Self.machine(of: header)
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
    /// The machine of the program; every image of a process has the same.
    private static let machineOfThisProcess: String? = {
      let head = (try? OpenedFile(path: "/proc/self/exe", name: "/proc/self/exe"))?.head ?? []
      return head.isEmpty ? nil : machine(of: head.span)
    }()

    private static func machine(of header: Span<UInt8>) -> String {
      let order = ByteOrder.ofThisProcess
      let number: UInt16? = header.integer(at: 18, order: order)
      return ELFMachine(
        number: number ?? 0, bits: MemoryLayout<UInt>.size * 8, order: order
      ).name
    }

    /// Whether a program is told from a library by what `ELFFile` goes by, as far as it is mapped.
    private static func isExecutable(
      header: Span<UInt8>, programHeaders: Span<UInt8>, order: ByteOrder
    ) -> Bool {
      if header.integer(at: 16, order: order) == UInt16(ET_EXEC) { return true }
      let size = MemoryLayout<UInt>.size == 8 ? 56 : 32
      for start in stride(from: 0, to: programHeaders.count, by: size)
      where programHeaders.integer(at: start, order: order) == UInt32(PT_INTERP) { return true }
      return false
    }
  #endif
}

extension ImageIdentity.ByteOrder {
  /// The order of this process.
  fileprivate static var ofThisProcess: Self {
    #if _endian(little)
      .little
    #else
      .big
    #endif
  }
}
