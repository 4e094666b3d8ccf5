internal import CElf

/// What a mapped image is, read from the headers that were copied of it.
extension ImageIdentity {
  /// Describes a mapped image as the reader of its format describes the file.
  init(of mapped: MappedImage, name: String, header: Span<UInt8>, programHeaders: Span<UInt8>) {
    let order = ByteOrder.ofThisProcess
    let interpreter = try? ELFSegment.first(
      ofType: UInt32(PT_INTERP), in: programHeaders, bits: UInt.bitWidth, order: order
    ) { $0 }
    // A program is told from a library by what `ELFFile` goes by, as far as it is mapped.
    let isExecutable =
      mapped.role == .program || header.integer(at: 16, order: order) == UInt16(ET_EXEC)
      || interpreter != nil
    self.init(
      path: name, format: .elf, bits: UInt.bitWidth, byteOrder: order,
      machine: Self.machineOfThisProcess ?? Self.machine(of: header),
      kind: isExecutable ? .executable : .shared, id: mapped.buildID)
  }

  /// The machine of the program; every image of a process has the same.
  private static let machineOfThisProcess: String? = {
    let head = (try? OpenedFile(path: "/proc/self/exe", name: "/proc/self/exe"))?.head ?? []
    return head.isEmpty ? nil : machine(of: head.span)
  }()

  private static func machine(of header: Span<UInt8>) -> String {
    let order = ByteOrder.ofThisProcess
    let number: UInt16? = header.integer(at: 18, order: order)
    return ELFMachine(number: number ?? 0, bits: UInt.bitWidth, order: order).name
  }
}

extension ImageIdentity.ByteOrder {
  /// The order of this process.
  package static var ofThisProcess: Self {
    #if _endian(little)
      .little
    #else
      .big
    #endif
  }
}
