/// What a mapped image is, read from the headers that were copied of it.
extension ImageIdentity {
  /// Describes a mapped image as the reader of its format describes the file.
  ///
  /// It is a program where the process was started from it: the loader opens no other, so that
  /// what `ELFFile.isProgram` goes by need not be read of each image.
  init(of mapped: MappedImage, name: String, header: Span<UInt8>) {
    self.init(
      path: name, format: .elf, bits: UInt.bitWidth, byteOrder: .ofThisProcess,
      machine: Self.machineOfThisProcess ?? Self.machine(of: header),
      kind: mapped.role == .program ? .executable : .shared, id: mapped.buildID)
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
